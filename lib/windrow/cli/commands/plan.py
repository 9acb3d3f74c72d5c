"""`windrow plan`: what a pipeline will do, in words. Needs no Spark."""

from __future__ import annotations

import typer

from windrow.cli.common import Common, command_without_spark
from windrow.cli.options import Json, print_json, width
from windrow.drivers.inspect.plan import plan as in_words
from windrow.drivers.inspect.plan import since_last_run
from windrow.view.plan.pipeline import plan_mapping


@command_without_spark
def plan(common: Common, as_json: Json = False) -> None:
    """Check a pipeline file, and say in words what each stage will do and what has changed since it last ran.

    Example: windrow plan conf/pipelines/flights.yaml
    """
    pipeline = common.pipeline
    if as_json:
        print_json(plan_mapping(pipeline, *since_last_run(pipeline)))
    else:
        typer.echo(in_words(pipeline, width()))
