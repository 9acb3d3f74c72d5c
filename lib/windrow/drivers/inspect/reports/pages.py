"""The pages of runs, as files: HTML, with JSON and JUnit XML beside it."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from windrow.drivers.inspect.look import look
from windrow.drivers.inspect.report import report_in
from windrow.drivers.inspect.reports.index import index_in
from windrow.spec.errors import SpecError
from windrow.spec.pipelines.pipeline import Pipeline
from windrow.store.reading.pages import write_text
from windrow.view.report import page
from windrow.view.reports.index import index_page
from windrow.view.reports.machines import as_json, as_junit

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


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
    made = look(pipeline, spark, lambda tables: index_in(tables, pipeline))
    path = output or f"out/{page_name(pipeline.pipeline, 'index')}"
    write_text(path, index_page(made, lambda run: page_name(pipeline.pipeline, run)), spark)
    return path


def page_name(pipeline: str, run: str) -> str:
    """The file of a run's page, in the folder of all pages: as the DAG names it, too."""
    named = f"{pipeline}-{run.removeprefix(f'{pipeline}__')}".replace(":", "")
    return f"{re.sub(r'[^A-Za-z0-9_.-]+', '_', named)}.html"
