"""`windrow report`: what a run did, as one HTML page."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from windrow.cli.options import Conf, File, From, Master, Project, Set, To, as_typed, is_before, opened, time_of
from windrow.cli.session import looked
from windrow.spec.errors import SpecError
from windrow.spec.pipelines.pipeline import Pipeline

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Output = Annotated[
    Path | None, typer.Option("--output", metavar="FILE", help="The page.", show_default="out/<pipeline>-<run>.html")
]


def report(
    file: File,
    run: Annotated[
        str | None, typer.Option("--run", metavar="NAME", help="A backfill's run.", show_default="the stream")
    ] = None,
    from_: From = None,
    to: To = None,
    output: Output = None,
    settings: Set = None,
    project: Project = None,
    master: Master = None,
    conf: Conf = None,
) -> None:
    """Write what a run did as one HTML page that works offline: where every row went, expectations, panes by timing.

    Without --run it is the page of the stream, over its last day.

    Example: windrow report conf/pipelines/flights.yaml --output flights.html
    """
    pipeline = opened(file, settings, project)
    start, end = time_of("--from", from_), time_of("--to", to)
    if (start is None) != (end is None):
        raise SpecError("--to" if end is None else "--from", "is missing", None, "both or none: [--from, --to)")
    is_before(start, end)
    typed = as_typed(file, settings, project)
    typer.echo(looked(lambda spark: write_report(pipeline, spark, run, start, end, output, typed), master, conf))


def write_report(
    pipeline: Pipeline,
    spark: SparkSession | None,
    run: str | None,
    start: int | None,
    end: int | None,
    output: Path | None,
    typed: str,
) -> str:
    """Write the page, and give its path. `typed` is how its commands name the pipeline."""
    from windrow.drivers.inspect.look import look
    from windrow.drivers.inspect.report import report_in
    from windrow.view.report import page

    made = look(pipeline, spark, lambda tables: report_in(tables, pipeline, run, start, end))
    made = replace(made, typed=typed)
    name = re.sub(r"[^A-Za-z0-9_.-]+", "_", f"{pipeline.pipeline}-{made.run}")
    path = output or Path("out") / f"{name}.html"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(page(made), encoding="utf-8")
    return str(path)
