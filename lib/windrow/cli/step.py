"""`windrow step`: one step of a backfill, for schedulers. It is not in the list of commands: people take `backfill`."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from windrow.cli.backfill import Early, Whole
from windrow.cli.errors import TRACE, shown_plainly, step_code
from windrow.cli.options import Conf, File, From, Master, Project, Set, To, as_typed, opened, time_of
from windrow.cli.report import Link, Output, write_report
from windrow.cli.session import session
from windrow.sources.java_words import in_one_line
from windrow.spec.errors import SpecError, WindowsWait, WindrowError
from windrow.spec.pipelines.pipeline import Pipeline
from windrow.store.delta.location import Lake
from windrow.store.journal.outcomes import StepOutcome
from windrow.view.backfill import backfilled_text

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class Step(StrEnum):
    """The steps in their order."""

    LAND = "land"
    GATE_ROWS = "gate_rows"
    COMPUTE = "compute"
    GATE_RESULTS = "gate_results"
    PUBLISH = "publish"
    REPORT = "report"


Wait = Annotated[
    bool, typer.Option("--wait", help="Publish nothing before all windows have expired: exit code 4 until then.")
]
Run = Annotated[str, typer.Option("--run", metavar="NAME", help="The name of the run, the same for all of its steps.")]

Attempt = Annotated[
    str | None,
    typer.Option("--attempt", metavar="NAME", help="Keep in the audits, under this name, how this attempt ends."),
]


def step(
    step: Annotated[Step, typer.Argument(help="Which step.", show_default=False)],
    file: File,
    run: Run,
    attempt: Attempt = None,
    from_: From = None,
    to: To = None,
    output: Output = None,
    link: Link = None,
    wait: Wait = False,
    early: Early = False,
    whole: Whole = False,
    settings: Set = None,
    project: Project = None,
    master: Master = None,
    conf: Conf = None,
) -> None:
    """Make one step of a backfill: land, gate_rows, compute, gate_results, publish or report.

    What the first step of a run, land, is told of windows that have not expired holds for all of its steps.

    Example: windrow step compute conf/pipelines/flights.yaml --run monday --from 2013-01-01 --to 2013-01-02
    """
    try:
        pipeline = opened(file, settings, project)
        with session(master, conf) as spark, _recorded(pipeline, spark, run, attempt):
            if step is Step.REPORT:
                typed = as_typed(file, settings, project)
                typer.echo(write_report(pipeline, spark, run, *_span(from_, to), output, typed, link))
            else:
                _step(step, pipeline, spark, run, _span(from_, to), _mode(wait, early, whole))
    except Exception as error:
        if os.environ.get(TRACE):
            traceback.print_exc()
        print(shown_plainly(error), file=sys.stderr)
        raise typer.Exit(step_code(error)) from None


def _mode(wait: bool, early: bool, whole: bool) -> str | None:
    """What the options say of windows that have not expired. Raises SpecError where they say several things."""
    said = [name for name, is_said in (("wait", wait), ("early", early), ("whole", whole)) if is_said]
    if len(said) > 1:
        raise SpecError(f"--{said[1]}", "does not go with the other", f"--{said[0]}", "take one of them")
    return said[0] if said else None


def _span(from_: str | None, to: str | None) -> tuple[int, int]:
    """The span of the windows' starts. Raises SpecError."""
    start, end = time_of("--from", from_), time_of("--to", to)
    if start is None or end is None:
        raise SpecError("--to" if end is None else "--from", "is missing", None, "a backfill is over [--from, --to)")
    return start, end


@contextmanager
def _recorded(pipeline: Pipeline, spark: SparkSession, run: str, attempt: str | None) -> Iterator[None]:
    """Keep in the audits how what is done within has ended, where the attempt has a name.

    Raises whatever is raised within: that it could not be kept is said on stderr then.
    """
    if attempt is None:
        yield
        return
    from windrow.drivers.spark.session import working_session
    from windrow.store.journal.audits import Audits

    record = partial(Audits.of(Lake.of(pipeline.lake)).record_outcome, working_session(spark), run, attempt)
    try:
        yield
    except Exception as error:
        try:
            record(_outcome(error))
        except Exception as fault:
            print(f"windrow: this outcome is not in the audits: {in_one_line(fault)}", file=sys.stderr)
        raise
    record(StepOutcome(0))


def _outcome(error: Exception) -> StepOutcome:
    """How an attempt has ended with an error. The words of others than windrow may hold values of the environment."""
    message = shown_plainly(error) if isinstance(error, WindrowError) else type(error).__name__
    return StepOutcome(step_code(error), message, error.until if isinstance(error, WindowsWait) else {})


def _step(
    step: Step, pipeline: Pipeline, spark: SparkSession, run: str, span: tuple[int, int], mode: str | None
) -> None:
    from windrow.drivers.pipeline.pipeline import PipelineWork
    from windrow.drivers.recompute.backfill import Backfill
    from windrow.drivers.recompute.scope.request import Mode

    told = Mode(mode) if mode in ("early", "whole") else Mode.EXPIRED
    made = Backfill(PipelineWork.open(pipeline, spark), run, *span, mode=told, waits=mode == "wait")
    if step is not Step.LAND:
        made = made.as_it_began() if mode is None else made.told()
    for result in getattr(made, step.value)() or ():
        if step in (Step.COMPUTE, Step.PUBLISH):
            typer.echo(backfilled_text(result, dry_run=step is Step.COMPUTE))
