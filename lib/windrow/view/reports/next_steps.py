"""What to type next, by how a run has ended."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from windrow.spec.times import format_time
from windrow.view.reports.parts import NextStep, State

STREAM = "stream"


def next_steps(
    state: State,
    run: str,
    typed: str,
    span: tuple[int | None, int | None],
    generations: Mapping[str, int],
    facts: Mapping[str, int],
) -> Iterator[NextStep]:
    """Commands for the pipeline that is `typed` so, after a run over windows that start in the span.

    `generations` are those of stages that a gate keeps from being shown, `facts` the numbers of the report.
    """
    for stage, number in generations.items():
        command = f"windrow diff {typed} --stage {stage} --generation {number}"
        yield NextStep(command, f"what generation {number} of {stage} would change")
    again = _again(run, typed, span)
    if run == STREAM:
        if state is State.STOPPED:
            yield NextStep(again, "when the rows or the suite are right: it judges the same windows again")
        if facts.get("late rows to restate"):
            yield NextStep(f"windrow restate {typed}", "count the rows that came too late")
    elif state is State.STOPPED:
        yield NextStep(again, f"when the rows or the suite are right: the same windows once more{_or_clear(run)}")
    elif state is State.WAITING:
        yield NextStep(f"windrow status {typed}", "how far the watermark is, and what holds it back")
        yield NextStep(again, f"when more has landed: what has expired by then{_or_clear(run)}")
    elif state is State.UNFINISHED:
        yield NextStep(again, f"it was killed, or is still at work: done again, it does the rest{_or_clear(run)}")


def _again(run: str, typed: str, span: tuple[int | None, int | None]) -> str:
    start, end = span
    if run == STREAM:
        return f"windrow run {typed} --once"
    if run.startswith(("restatement-", "restate__")) or start is None or end is None:
        return f"windrow restate {typed}"
    return f"windrow backfill {typed} --from {format_time(start)} --to {format_time(end)}"


def _or_clear(run: str) -> str:
    """A run of a DAG is made again there."""
    return "" if run.startswith(("backfill-", "restatement-")) else "; or clear the task in Airflow"
