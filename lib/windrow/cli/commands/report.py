"""`windrow report`: what a run did, as one HTML page."""

from __future__ import annotations

from typing import Annotated

import typer

from windrow.cli.common import Common, command
from windrow.cli.options import From, To, is_before, time_of
from windrow.spec.errors import SpecError

Output = Annotated[
    str | None,
    typer.Option(
        "--output", metavar="FILE", help="The page: a path, or a URI.", show_default="out/<pipeline>-<run>.html"
    ),
]
Index = Annotated[bool, typer.Option("--index", help="A page of all runs with trends, in place of one run.")]
Link = Annotated[str | None, typer.Option("--link", metavar="URL", help="The address of the task that made the run.")]


@command
def report(
    common: Common,
    run: Annotated[
        str | None,
        typer.Option("--run", metavar="NAME", help="A run, or `last`.", show_default="the stream"),
    ] = None,
    index: Index = False,
    from_: From = None,
    to: To = None,
    output: Output = None,
    link: Link = None,
) -> None:
    """Write what a run did as one HTML page that works offline, with JSON and JUnit XML beside it.

    It says what stopped and what to type next, what changed, and where every row went. Without --run it is the page of
    the stream, over its last day.

    Example: windrow report conf/pipelines/flights.yaml --output flights.html
    """
    from windrow.drivers.inspect.reports.pages import write_index, write_report

    pipeline = common.pipeline
    start, end = time_of("--from", from_), time_of("--to", to)
    if (start is None) != (end is None):
        raise SpecError("--to" if end is None else "--from", "is missing", None, "both or none: [--from, --to)")
    is_before(start, end)
    if index and run is not None:
        raise SpecError("--index", "is a page of all runs, and does not go with --run", run)
    if index:
        typer.echo(common.looked(lambda spark: write_index(pipeline, spark, output)))
    else:
        typer.echo(
            common.looked(lambda spark: write_report(pipeline, spark, run, start, end, output, common.typed, link))
        )
