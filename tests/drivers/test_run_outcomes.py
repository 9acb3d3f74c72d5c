"""How a run has ended, by what its steps have recorded: no Spark, no lake."""

from __future__ import annotations

from typing import Any

import pytest

from windrow.drivers.inspect.reports.changed import changed_windows
from windrow.drivers.inspect.reports.history import history_of
from windrow.drivers.inspect.reports.outcome import in_windows, outcome_of, stage_figures, waiting_lines
from windrow.drivers.inspect.waiting.holding import slowest_of
from windrow.engine.clocks.clock import StageClock
from windrow.spec.pipelines.pipeline import Pipeline
from windrow.spec.quality.expectations import Severity
from windrow.spec.quality.judgements import GateResult, Judgement, Outcome
from windrow.spec.times import HOUR, SECOND
from windrow.store.journal.audits import Recorded
from windrow.store.reading.arrow import ArrowTables
from windrow.view.reports.parts import State

ABOUT = {"start": 0, "end": 24 * HOUR, "stages": ["sums", "behind"]}
PUBLISHED = {"windows": 9, "inserted": 2, "changed": 1, "retracted": 1, "tick": 4, "waiting": None, **ABOUT}
WAITING = {
    "stage": "sums", "windows": 3, "first": [0, HOUR], "last": [2 * HOUR, 3 * HOUR], "until": 3 * HOUR,
    "watermark": HOUR, "held_by": "source rows", "early": False,
}  # fmt: skip
BROKEN = GateResult("sums", 4, (Judgement("x()", Severity.CRITICAL, Outcome.FAILED, "1 of 4 rows"),))


def history(*rows: tuple[str, str, int, dict[str, Any]]):  # type: ignore[no-untyped-def]
    return history_of([Recorded("monday", *row) for row in rows])


def outcome(code: int, message: str = "") -> dict[str, Any]:
    return {"exit_code": code, "message": message, "until": {}}


def test_a_run_that_waits_is_told_from_one_that_was_killed() -> None:
    found = {("begin", ""): ABOUT, ("land", "rows"): ABOUT}
    assert outcome_of(found, [], history()) == (State.UNFINISHED, "Not finished: 0 of 2 stages are published.")
    waits = history(("outcome", "a", 1, outcome(75)), ("outcome", "b", 2, outcome(4, "waits: sums: window 05:00")))
    state, text = outcome_of(found, [], waits)
    assert (state, waiting_lines(found, waits)) == (State.WAITING, ["waits: sums: window 05:00"])
    assert text.startswith("Waits for windows that have not expired")
    gone_on = history(("outcome", "b", 2, outcome(4, "waits")), ("outcome", "c", 3, outcome(0)))
    assert outcome_of(found, [], gone_on)[0] is State.UNFINISHED and waiting_lines(found, gone_on) == []


def test_windows_that_wait_beside_those_that_are_published() -> None:
    found = {("publish", "sums"): {**PUBLISHED, "waiting": WAITING}, ("publish", "behind"): {**PUBLISHED, "tick": None}}
    state, text = outcome_of(found, [], history())
    assert (state, text) == (State.WAITING, "Published: sums. Some windows of sums have not expired, and wait.")
    (line,) = waiting_lines(found, history())
    assert line.startswith("sums: 3 windows from 1970-01-01 00:00 - 01:00 to 1970-01-01 02:00 - 03:00 have not expired")
    sums, behind = stage_figures(found)
    assert (sums.waiting, sums.unchanged, sums.tick, behind.tick) == (3, 6, 4, None)


def test_a_gate_that_stops_and_what_stays() -> None:
    found = {("begin", ""): ABOUT, ("publish", "behind"): PUBLISHED}
    stopped = outcome_of(found, [BROKEN], history())
    assert stopped == (State.STOPPED, "Stopped by the gate of sums: what was published before stays: behind.")
    assert stage_figures(found)[0].windows is None


def test_nothing_is_computed_of_rows_whose_gate_has_stopped() -> None:
    steps = history(("rows", "sums", 1, {"read": 10, "stopped": True}), ("rows", "behind", 2, {"read": 10})).steps
    assert [(step.step, step.subject) for step in steps] == [("counted", "sums"), ("computed", "behind")]


def test_rows_wait_until_their_windows_are_published() -> None:
    rows = {"read": 10, "dead_rows": 3, "kept": 6, "filtered": 1, "reasons": {"rejected": 3}, **ABOUT}
    names = []
    for found in (
        {("rows", "sums"): {**rows, "stopped": True}},
        {("rows", "sums"): rows},
        {("rows", "sums"): rows, ("publish", "sums"): PUBLISHED},
    ):
        (balance,) = in_windows(found)
        assert balance.adds_up and balance.parts[0].number == 6
        names.append((balance.parts[0].name, balance.parts[0].why.split(",")[0]))
    assert names == [
        ("waiting", "behind the gate on the rows: nothing is computed"), ("waiting", "in results that are computed"),
        ("aggregated", "in results that are published"),
    ]  # fmt: skip


def test_the_steps_since_the_run_last_began() -> None:
    made = history(
        ("begin", "", 0, {}), ("gate", "rows", 1, {}), ("begin", "", 10 * SECOND, {}),
        ("land", "rows", 12 * SECOND, {}),
        ("outcome", "a", 13 * SECOND, outcome(3, "the gate")),
    )  # fmt: skip
    assert [(step.step, step.subject, step.lasted) for step in made.steps] == [
        ("begin", "", None), ("landed", "rows", 2 * SECOND),
    ]  # fmt: skip
    assert [(one.exit_code, one.message) for one in made.attempts] == [(3, "the gate")]


def people(mask: list[str]) -> Pipeline:
    source = {
        "name": "people", "files": {"path": "/data"}, "schema": "host string, at string",
        "event_time": {"column": "at", "format": "iso8601"}, "watermark": {"bounded_delay": "1h"}, "partition": "host",
        "quality": {"suite": "people.yaml", "mask": mask},
    }  # fmt: skip
    stage = {"name": "hourly", "window": {"fixed": {"size": "1h"}}, "aggregates": {"n": {"count": "*"}}}
    return Pipeline.from_mapping({"pipeline": "p", "lake": "/no/lake", "sources": [source], "stages": [stage]})


@pytest.mark.parametrize(
    ("mask", "words"),
    [([], "partition a, b of source people"), (["HOST"], "2 of 3 partitions of source people")],
    ids=str,
)
def test_what_holds_a_watermark_back_shows_no_masked_value(mask: list[str], words: str) -> None:
    """It stands in the log and on the page of a run that waits."""
    made, clock = people(mask), StageClock().seen({"a": HOUR, "b": HOUR, "c": 9 * HOUR}, 9 * HOUR, None)
    (source,), (stage,) = made.sources, made.stages
    assert slowest_of(source.name, stage.watermark_over(source.watermark), source.hides_partitions, clock) == words


def test_a_run_has_a_page_when_its_stage_is_no_longer_in_the_file() -> None:
    """Nothing is known then of the columns that its windows have, nor which of them are masked."""
    changes = {"stage": "sums", "windows": 9, "inserted": 0, "retracted": 0, "changed": 1, "first": [], **ABOUT}
    found = {("publish", "sums"): PUBLISHED, ("changes", "sums"): changes}
    assert changed_windows(ArrowTables(), people([]), found) == []
