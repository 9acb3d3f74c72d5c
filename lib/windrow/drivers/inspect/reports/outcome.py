"""How a run has ended, and where its rows and windows are, by what its steps have recorded."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import SimpleNamespace
from typing import Any

from windrow.drivers.inspect.reports.history import RunHistory
from windrow.engine.tick.counters import Counters
from windrow.spec.errors import WINDOWS_WAIT
from windrow.spec.quality.judgements import GateResult
from windrow.store.journal.audits import Found
from windrow.view.backfill import not_expired_text
from windrow.view.report import Balance, Part
from windrow.view.reports.parts import REASONS, StageFigures, State

Findings = Mapping[tuple[str, str], Found]


def stages_of(found: Findings) -> list[str]:
    """The stages of a run: one that restates a chain goes from those in front to those behind."""
    return list(dict.fromkeys(name for result in found.values() for name in result.get("stages", ())))


def outcome_of(found: Findings, gates: Iterable[GateResult], history: RunHistory) -> tuple[State, str]:
    """The state of a run, and a sentence."""
    published = {subject: result for (step, subject), result in found.items() if step == "publish"}
    stages = stages_of(found)
    stopping = [gate.subject for gate in gates if gate.stops]
    committed = [subject for subject, result in published.items() if result["tick"] is not None]
    if stopping:
        before = f"what was published before stays: {', '.join(committed)}" if committed else "nothing was published"
        return State.STOPPED, f"Stopped by the gate of {', '.join(stopping)}: {before}."
    if len(published) < len(stages):
        if _waits(history):
            return State.WAITING, "Waits for windows that have not expired: nothing is published before all have."
        return State.UNFINISHED, f"Not finished: {len(published)} of {len(stages)} stages are published."
    waiting = [subject for subject, result in published.items() if _is_waiting(result)]
    but = f" Some windows of {', '.join(waiting)} have not expired, and wait." if waiting else ""
    if committed:
        return State.WAITING if waiting else State.PUBLISHED, f"Published: {', '.join(committed)}.{but}"
    unchanged = "Nothing changed: the tables already had these results."
    return (State.WAITING, f"Nothing was published.{but}") if waiting else (State.UNCHANGED, unchanged)


def span_of(results: Iterable[Found]) -> tuple[int, int]:
    """The windows of a run start in [start, end): a restatement of stages behind others has found a span of its own."""
    spans = [(result["start"], result["end"]) for result in results]
    return min(start for start, _ in spans), max(end for _, end in spans)


def _waits(history: RunHistory) -> bool:
    return bool(history.attempts) and history.attempts[-1].exit_code == WINDOWS_WAIT


def _is_waiting(result: Found) -> bool:
    return result.get("waiting") is not None


def waiting_lines(found: Findings, history: RunHistory) -> list[str]:
    """Which windows wait for what."""
    lines = [
        not_expired_text(SimpleNamespace(**_bounds({"stage": subject, **result["waiting"]})))
        for (step, subject), result in found.items()
        if step == "publish" and _is_waiting(result)
    ]
    return [*lines, *([history.attempts[-1].message] if _waits(history) else [])]


def _bounds(waiting: Mapping[str, Any]) -> dict[str, Any]:
    """The bounds of windows as pairs, which JSON has as lists."""
    pairs = {name: None if waiting[name] is None else tuple(waiting[name]) for name in ("first", "last")}
    return {**waiting, **pairs}


def stage_figures(found: Findings) -> list[StageFigures]:
    """What the run made of the windows of each stage, or would have made where its gate has stopped."""
    figures = {}
    for (step, subject), result in found.items():
        if step in ("changes", "publish"):
            waiting = result.get("waiting") or {}
            figures[subject] = StageFigures(
                subject, result["windows"], result["inserted"], result["changed"], result["retracted"],
                waiting.get("windows", 0), result.get("tick"),
            )  # fmt: skip
    return [figures.get(name, StageFigures(name)) for name in stages_of(found)]


def in_windows(found: Findings) -> list[Balance]:
    """Where the rows went that fall into the interval's windows."""
    published = {subject for step, subject in found if step == "publish"}
    return [
        Balance(
            subject, "rows of the windows of this interval", int(result["read"]), _parts(result, subject in published)
        )
        for (step, subject), result in found.items()
        if step == "rows" and "read" in result
    ]


def _parts(found: Found, is_published: bool) -> list[Part]:
    counters = Counters.of(found)
    aggregated = Part("aggregated", counters.in_windows, "in results that are published, or wait")
    if found.get("stopped"):
        aggregated = Part("waiting", counters.in_windows, "behind the gate on the rows: nothing is computed")
    elif not is_published:
        aggregated = Part("waiting", counters.in_windows, "in results that are computed, and not published")
    return [
        aggregated,
        Part("filtered", counters.filtered, "left out by where"),
        Part("unassigned", counters.unassigned, "in no window"),
        Part("bad", counters.bad_expression, "an expression failed on it"),
        *(Part(reason, number, REASONS.get(reason, "")) for reason, number in sorted(found["reasons"].items())),
    ]
