"""`windrow job`: a whole job of a DAG, for schedulers. It is not in the list: people take the command of its name."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from windrow.cli.commands.report import Output
from windrow.cli.commands.restate import restated_text
from windrow.cli.commands.run import Once, tick_line
from windrow.cli.common import Common, command
from windrow.cli.options import width
from windrow.cli.step import Attempt, Run, ended, recorded
from windrow.spec.pipelines.pipeline import Pipeline
from windrow.view.maintain import maintained_text
from windrow.view.run import Ticks

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class Job(StrEnum):
    """The commands that a DAG has as jobs."""

    RESTATE = "restate"
    MAINTAIN = "maintain"
    STREAM = "stream"


@command
def job(
    job: Annotated[Job, typer.Argument(help="Which job.", show_default=False)],
    common: Common,
    run: Run,
    attempt: Attempt = None,
    output: Output = None,
    once: Once = False,
) -> None:
    """Restate, maintain, or stream, and keep in the audits how it has ended. Exit codes are those of a step.

    A gate that stops names the page that `windrow report --run restate__NAME` writes.

    Example: windrow job restate conf/pipelines/flights.yaml --run monday
    """
    try:
        pipeline, named = common.pipeline, f"{job.value}__{run}"
        with (
            common.session(judges=job is not Job.MAINTAIN) as spark,
            recorded(pipeline, spark, named, attempt, job),
            common.gate_told(output),
        ):
            _do(job, pipeline, spark, named, once)
    except Exception as error:
        raise ended(error) from None


def _do(job: Job, pipeline: Pipeline, spark: SparkSession, run: str, once: bool) -> None:
    match job:
        case Job.RESTATE:
            from windrow.drivers.recompute.restate import restate

            for result in restate(pipeline, spark, run=run):
                typer.echo(restated_text(result))
        case Job.MAINTAIN:
            from windrow.drivers.maintain.maintain import maintain

            typer.echo(maintained_text(maintain(pipeline, spark), width()))
        case Job.STREAM:
            _stream(pipeline, spark, once)


def _stream(pipeline: Pipeline, spark: SparkSession, once: bool) -> None:
    from windrow.drivers.stream import stream

    ticks = Ticks([stage.name for stage in pipeline.stages], False, typer.echo)
    with stream.stopped_by_signals() as stop:
        stream.run(pipeline, spark, once=once, watch=lambda progress: ticks.show(tick_line(progress)), stop=stop)
        ticks.end(stopped=stop.is_set())
