"""`windrow step`: steps of a backfill, for schedulers. It is not in the list of commands: people take `backfill`."""

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

from windrow.cli.commands.backfill import Early, Whole
from windrow.cli.commands.report import Link, Output
from windrow.cli.common import Common, command
from windrow.cli.errors import TRACE, shown_plainly, step_code
from windrow.cli.options import From, To, time_of
from windrow.drivers.pipeline.points import point
from windrow.sources.java_words import in_one_line
from windrow.spec.errors import SpecError, WindowsWait, WindrowError
from windrow.spec.pipelines.pipeline import Pipeline
from windrow.store.delta.location import Lake
from windrow.store.journal.outcomes import StepOutcome
from windrow.view.backfill import backfilled_text, computed_text

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from windrow.drivers.recompute.backfill import Backfill


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
    typer.Option("--attempt", metavar="NAME", help="Keep in the audits, under this name, how each step ends."),
]
Through = Annotated[
    Step | None,
    typer.Option(
        "--through", help="Make the steps behind it too, up to this one, until one fails.", show_default="one step"
    ),
]


@command
def step(
    step: Annotated[Step, typer.Argument(help="Which step.", show_default=False)],
    common: Common,
    run: Run,
    through: Through = None,
    attempt: Attempt = None,
    from_: From = None,
    to: To = None,
    output: Output = None,
    link: Link = None,
    wait: Wait = False,
    early: Early = False,
    whole: Whole = False,
) -> None:
    """Make a step of a backfill: land, gate_rows, compute, gate_results, publish or report.

    What the first step of a run, land, is told of windows that have not expired holds for all of its steps.

    Example: windrow step compute conf/pipelines/flights.yaml --run monday --from 2013-01-01 --to 2013-01-02
    """
    try:
        pipeline = common.pipeline
        steps = [*_steps(step, through)]
        with common.session(judges=not {Step.GATE_ROWS, Step.GATE_RESULTS}.isdisjoint(steps)) as spark:
            made: Backfill | None = None
            for one in steps:
                with recorded(pipeline, spark, run, attempt, one), common.gate_told(output):
                    if one is Step.REPORT:
                        from windrow.drivers.inspect.reports.pages import write_report

                        span = time_of("--from", from_), time_of("--to", to)
                        typer.echo(write_report(pipeline, spark, run, *span, output, common.typed, link))
                    else:
                        span, mode = _span(from_, to), _mode(wait, early, whole)
                        made = made or _begun(one, pipeline, spark, run, span, mode)
                        _make(one, made)
                point(f"step:after_{one.value}")
    except Exception as error:
        raise ended(error) from None


def ended(error: Exception) -> typer.Exit:
    """The end of a step with an error, which is printed."""
    if os.environ.get(TRACE):
        traceback.print_exc()
    print(shown_plainly(error), file=sys.stderr)
    return typer.Exit(step_code(error))


def _steps(first: Step, last: Step | None) -> list[Step]:
    """The steps from one to another. Raises SpecError where that comes before it."""
    steps = list(Step)
    made = steps[steps.index(first) : steps.index(last or first) + 1]
    if not made:
        raise SpecError("--through", f"must not come before {first.value}", last)
    return made


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
def recorded(pipeline: Pipeline, spark: SparkSession, run: str, attempt: str | None, step: StrEnum) -> Iterator[None]:
    """Keep in the audits how the step that is made within has ended, where the attempt has a name.

    Raises whatever is raised within: that it could not be kept is said on stderr then.
    """
    if attempt is None:
        yield
        return
    from windrow.drivers.spark.lakes import lake_session
    from windrow.store.journal.audits import Audits

    lake = Lake.of(pipeline.lake)
    audits, session = Audits.of(lake), lake_session(spark, lake)
    record = partial(audits.record_outcome, session, run, attempt, step.value)
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
    """How a step has ended with an error. The words of others than windrow may hold values of the environment."""
    message = shown_plainly(error) if isinstance(error, WindrowError) else type(error).__name__
    return StepOutcome(step_code(error), message, error.until if isinstance(error, WindowsWait) else {})


def _begun(
    first: Step, pipeline: Pipeline, spark: SparkSession, run: str, span: tuple[int, int], mode: str | None
) -> Backfill:
    """The run, for its steps from this one on."""
    from windrow.drivers.pipeline.pipeline import PipelineWork
    from windrow.drivers.recompute.backfill import Backfill
    from windrow.drivers.recompute.scope.request import Mode

    told = Mode(mode) if mode in ("early", "whole") else Mode.EXPIRED
    made = Backfill(PipelineWork.open(pipeline, spark), run, *span, mode=told, waits=mode == "wait")
    if first is Step.LAND:
        return made
    return made.as_it_began() if mode is None else made.told()


def _make(step: Step, run: Backfill) -> None:
    for result in getattr(run, step.value)() or ():
        if step is Step.COMPUTE:
            typer.echo(computed_text(result))
        elif step is Step.PUBLISH:
            typer.echo(backfilled_text(result, dry_run=False))
