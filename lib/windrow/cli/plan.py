"""`windrow plan`: what a pipeline will do, in words. Needs no Spark."""

from __future__ import annotations

import typer

from windrow.cli.options import File, Json, Project, Set, opened, print_json, width
from windrow.drivers.inspect.plan import plan as in_words
from windrow.drivers.inspect.plan import since_last_run
from windrow.view.plan.pipeline import plan_mapping


def plan(file: File, settings: Set = None, project: Project = None, as_json: Json = False) -> None:
    """Check a pipeline file, and say in words what each stage will do and what has changed since it last ran.

    Example: windrow plan conf/pipelines/flights.yaml
    """
    pipeline = opened(file, settings, project)
    if as_json:
        print_json(plan_mapping(pipeline, *since_last_run(pipeline)))
    else:
        typer.echo(in_words(pipeline, width()))
