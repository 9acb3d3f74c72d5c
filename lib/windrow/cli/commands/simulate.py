"""`windrow simulate`: what other specifications of a stage would have shown over the history it has."""

from __future__ import annotations

from typing import Annotated

import typer

from windrow.cli.common import Common, command
from windrow.cli.options import From, Json, To, is_before, print_json, time_of, width
from windrow.spec.errors import SpecError
from windrow.spec.fields.kinds import POSITIVE_DURATION
from windrow.spec.fields.reading import located
from windrow.spec.pipelines.pipeline import Pipeline
from windrow.spec.simulation.wishes import wishes_of

StageOption = Annotated[
    str | None, typer.Option("--stage", metavar="NAME", help="The stage.", show_default="the only one")
]
Try = Annotated[
    list[str] | None,
    typer.Option("--try", metavar="YAML", help="Fields that differ, '{watermark: {bounded_delay: 30m}}'; repeat it."),
]
Suggest = Annotated[
    list[str] | None,
    typer.Option("--suggest", metavar="GOAL", help="Search for complete=99%, latency=30m or first=5m; repeat it."),
]
Every = Annotated[str, typer.Option("--every", metavar="DURATION", help="How often a stream would have ticked.")]
Landing = Annotated[bool, typer.Option("--by-landing", help="A tick for each landing batch, as the rows landed.")]
Output = Annotated[
    str | None,
    typer.Option("--output", metavar="FILE", help="The page.", show_default="out/<pipeline>-<stage>-simulate.html"),
]


@command
def simulate(
    common: Common,
    stage: StageOption = None,
    tried: Try = None,
    suggest: Suggest = None,
    from_: From = None,
    to: To = None,
    every: Every = "10m",
    by_landing: Landing = False,
    output: Output = None,
    as_json: Json = False,
) -> None:
    """Say what other specifications would have shown, and when: over the rows there are, in the order of their arrival.

    Nothing is written to the lake. Prints a table, and writes a page with plots.

    Example: windrow simulate conf/pipelines/flights.yaml --stage departures_hourly --suggest complete=99%
    """
    wishes_of(suggest or ())  # a wrong one is said before Spark starts
    pipeline = common.pipeline
    name = stage or _only_stage(pipeline)
    start, end = time_of("--from", from_), time_of("--to", to)
    is_before(start, end)
    between = None if by_landing else located("--every", POSITIVE_DURATION.read, every)
    with common.session() as spark:
        from windrow.drivers.simulate.simulate import simulate as run
        from windrow.store.reading.pages import write_text

        found = run(pipeline, spark, name, tried or (), between, start, end, suggest or ())
        path = output or f"out/{pipeline.pipeline}-{name}-simulate.html"
        write_text(path, found.page(), spark)
    if as_json:
        print_json({**found.to_mapping(), "page": path})
    else:
        typer.echo(f"{found.text(width())}\n\npage: {path}")


def _only_stage(pipeline: Pipeline) -> str:
    names = [one.name for one in pipeline.stages]
    if len(names) > 1:
        raise SpecError("--stage", "is missing", None, f"one of {', '.join(names)}")
    return names[0]
