"""`windrow report`: what a run did, as one HTML page."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from windrow.cli.common import Common, command
from windrow.cli.options import From, To, is_before, time_of
from windrow.spec.errors import SpecError
from windrow.spec.pipelines.pipeline import Pipeline

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

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


def write_report(
    pipeline: Pipeline,
    spark: SparkSession | None,
    run: str | None,
    start: int | None,
    end: int | None,
    output: str | None,
    typed: str = "FILE",
    link: str | None = None,
) -> str:
    """Write the page with JSON and JUnit XML beside it, and give its path.

    `typed` is how its commands name the pipeline. Raises SpecError for a run that is not known, and a link that is no
    address of the web.
    """
    from windrow.drivers.inspect.look import look
    from windrow.drivers.inspect.report import report_in
    from windrow.store.reading.pages import write_text
    from windrow.view.report import page
    from windrow.view.reports.machines import as_json, as_junit

    if link and not link.startswith(("http://", "https://")):
        raise SpecError("--link", "must be an address that begins with http:// or https://", link)
    made = look(pipeline, spark, lambda tables: report_in(tables, pipeline, run, start, end))
    made = replace(made, typed=typed, link=link or None)
    path = output or f"out/{page_name(pipeline.pipeline, made.run)}"
    beside = path.removesuffix(".html")
    for name, text in ((path, page(made)), (f"{beside}.json", as_json(made)), (f"{beside}.junit.xml", as_junit(made))):
        write_text(name, text, spark)
    return path


def write_index(pipeline: Pipeline, spark: SparkSession | None, output: str | None) -> str:
    """Write the page of all runs, and give its path."""
    from windrow.drivers.inspect.look import look
    from windrow.drivers.inspect.reports.index import index_in
    from windrow.store.reading.pages import write_text
    from windrow.view.reports.index import index_page

    made = look(pipeline, spark, lambda tables: index_in(tables, pipeline))
    path = output or f"out/{page_name(pipeline.pipeline, 'index')}"
    write_text(path, index_page(made, lambda run: page_name(pipeline.pipeline, run)), spark)
    return path


def page_name(pipeline: str, run: str) -> str:
    """The file of a run's page, in the folder of all pages: as the DAG names it, too."""
    named = f"{pipeline}-{run.removeprefix(f'{pipeline}__')}".replace(":", "")
    return f"{re.sub(r'[^A-Za-z0-9_.-]+', '_', named)}.html"
