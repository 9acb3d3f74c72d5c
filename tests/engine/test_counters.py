"""What a tick counts: in the statistics, in the control row, in the columns of `ticks`."""

from __future__ import annotations

import json
from typing import Any

from windrow.engine.clocks.clock import StageClock
from windrow.engine.tick.counters import KNOWN_AT_COMMIT, NAMES, NOTHING, WRITTEN, Counters
from windrow.engine.tick.statistics import BatchStatistics, summed
from windrow.spec.pipelines.table_columns import COMMENTS, TICK_COUNTERS
from windrow.store.journal.control import Control
from windrow.store.upstream.offsets import START

SOME = Counters(
    read=10, dead_rows=1, bad_expression=2, bad_gap=1, filtered=3, kept=4, unassigned=1, assigned=5, late=2, closed=1,
    panes=2, retractions=1,
)  # fmt: skip


def control(**fields: Any) -> Control:
    return Control(tick=1, kind="stream", offsets=START, streams=True, watermark_before=0, clock=StageClock(), **fields)


def test_every_row_is_in_one_place() -> None:
    for one in (SOME, SOME + SOME, NOTHING):
        assert one.read == one.rejected + one.filtered + one.in_windows + one.unassigned
        assert one.kept == one.in_windows + one.unassigned


def test_counters_of_ticks_add_up() -> None:
    assert SOME + NOTHING == SOME == NOTHING + SOME
    assert (SOME + SOME).known_at_commit == {name: 2 * number for name, number in SOME.known_at_commit.items()}
    assert summed([BatchStatistics(SOME, 1), BatchStatistics(SOME, 2)]) == BatchStatistics(SOME + SOME, 3)


def test_the_letters_are_those_of_rows_and_those_of_pairs() -> None:
    assert SOME.dead_letters == 2 + 2 + 1


def test_a_counter_is_known_with_the_tick_or_counted_in_what_it_wrote() -> None:
    assert {*KNOWN_AT_COMMIT, *WRITTEN} == set(NAMES) and not {*KNOWN_AT_COMMIT} & {*WRITTEN}


def test_the_control_row_keeps_all_counters() -> None:
    row = json.loads(control(counters=SOME).to_json())
    assert row["counts"].keys() == {*NAMES} and row["rows"].keys() == {
        "changed", "opened", "ended", "open", "outgrown", "first_start", "last_start",
    }  # fmt: skip
    assert Control.from_json(json.dumps(row)).counters == SOME


def test_a_control_row_without_counts_has_counted_nothing() -> None:
    row = {**json.loads(control().to_json()), "counts": {}}
    assert Control.from_json(json.dumps(row)) == control()


def test_every_column_of_ticks_that_is_a_counter_has_a_value_and_a_comment() -> None:
    found = {column: getattr(SOME, name) for column, name in TICK_COUNTERS.items()}
    assert found == {
        "elements_read": 10, "assigned": 5, "unassigned": 1, "filtered": 3, "late": 2, "closed": 1, "rejected": 3,
        "panes": 2, "retractions": 1,
    }  # fmt: skip
    assert found.keys() <= COMMENTS.keys()
