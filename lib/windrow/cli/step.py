"""`windrow step`: one step of a backfill, for schedulers. It is not in the list of commands: people take `backfill`."""

from __future__ import annotations

import os
import sys
import traceback
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from windrow.cli.backfill import Early, Whole
from windrow.cli.errors import TRACE, shown_plainly, step_code
from windrow.cli.options import Conf, File, From, Master, Project, Set, To, opened, time_of
from windrow.cli.report import Output, write_report
from windrow.cli.session import session
from windrow.spec.errors import SpecError
from windrow.view.backfill import backfilled_text


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


def step(
    step: Annotated[Step, typer.Argument(help="Which step.", show_default=False)],
    file: File,
    run: Run,
    from_: From = None,
    to: To = None,
    output: Output = None,
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
        mode = _mode(wait, early, whole)
        _step(step, file, run, (from_, to), mode, output, settings, project, master, conf)
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


def _step(
    step: Step, file: Path, run: str, times: tuple[str | None, str | None], mode: str | None, output: Path | None,
    settings: Set, project: Project, master: Master, conf: Conf,
) -> None:  # fmt: skip
    pipeline = opened(file, settings, project)
    start, end = time_of("--from", times[0]), time_of("--to", times[1])
    if start is None or end is None:
        raise SpecError("--to" if end is None else "--from", "is missing", None, "a backfill is over [--from, --to)")
    with session(master, conf) as spark:
        if step is Step.REPORT:
            typer.echo(write_report(pipeline, spark, run, start, end, output))
            return
        from windrow.drivers.pipeline.pipeline import PipelineWork
        from windrow.drivers.recompute.backfill import Backfill
        from windrow.drivers.recompute.scope.scope import Mode

        told = Mode(mode) if mode in ("early", "whole") else Mode.EXPIRED
        made = Backfill(PipelineWork.open(pipeline, spark), run, start, end, mode=told, waits=mode == "wait")
        if step is not Step.LAND:
            made = made.as_it_began() if mode is None else made.told()
        for result in getattr(made, step.value)() or ():
            if step in (Step.COMPUTE, Step.PUBLISH):
                typer.echo(backfilled_text(result, dry_run=step is Step.COMPUTE))
