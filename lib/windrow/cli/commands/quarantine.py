"""`windrow quarantine`: the rows of a landed file no longer count."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from windrow.cli.common import Common, command
from windrow.cli.options import Json, print_json
from windrow.spec.errors import SpecError
from windrow.spec.times import format_time
from windrow.view.text.times import many


@command
def quarantine(
    common: Common,
    landed: Annotated[str, typer.Option("--file", metavar="PATH", help="The landed file, or the end of its path.")],
    source: Annotated[str | None, typer.Option("--source", metavar="NAME", help="Of several sources, which.")] = None,
    as_json: Json = False,
) -> None:
    """Take the rows of a landed file out: they become dead letters, and a backfill corrects what was made of them.

    A corrected file lands like any other, under a name of its own.

    Example: windrow quarantine conf/pipelines/flights.yaml --file arrivals-2013-01-03T00.json
    """
    pipeline = common.pipeline
    if source is None and len(pipeline.sources) > 1:
        names = ", ".join(item.name for item in pipeline.sources)
        raise SpecError("--source", "is missing", None, f"the pipeline has several: {names}")
    name = pipeline.sources[0].name if source is None else pipeline.source(source).name
    with common.session() as spark:
        from windrow.drivers.ingest.quarantine import quarantine as take_out

        done = take_out(pipeline, spark, name, landed)
    if as_json:
        print_json(asdict(done))
        return
    if done.step is None:
        typer.echo(f"{done.source}: {done.file} is in quarantine already, nothing changed")
    else:
        typer.echo(
            f"{done.source}: {many(done.rows, 'row')} of {done.file} are in quarantine, landing step {done.step}"
        )
    if done.start is not None and done.end is not None:
        span = f"--from {format_time(done.start)} --to {format_time(done.end)}"
        typer.echo(f"windrow backfill {common.typed} {span} corrects what was made of them")
