"""The views over what the reference model shows: every transcript, and DuckDB against the plain rule of the model."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest

from tests.model.panes import Pane
from tests.model.tick import Tick
from tests.names.frames import TICKS, current_table, known, panes_table, run, standing, table_of, ticks_table
from windrow.compile.names.asof import VALIDITY
from windrow.compile.names.combined import combining, has_combined
from windrow.compile.names.dialects import Opened
from windrow.compile.names.relations import of_stage
from windrow.spec.pipelines.table_columns import current_columns
from windrow.spec.stages.stage import Stage
from windrow.spec.times import INFINITY
from windrow.spec.transcripts.cases import read_transcripts

FOLDER = Path(__file__).parents[1] / "transcripts"
FILES = sorted(FOLDER.glob("*.yaml"))
Rows = list[tuple[Any, ...]]


@cache
def stages_of(file: Path) -> list[tuple[str, Stage, list[Tick]]]:
    """Every stage of the transcripts of a file that shows something, with its ticks."""
    return list(_stages_of(file))


def _stages_of(file: Path) -> Iterator[tuple[str, Stage, list[Tick]]]:
    for case in read_transcripts(file):
        if case.stages and case.steps and case.rejects is None:
            ticks = run(case)
            for stage in case.stages:
                if any(tick.panes for tick in ticks[stage.name]):
                    yield f"{case.name}, {stage.name}", stage, ticks[stage.name]


@cache
def in_memory() -> duckdb.DuckDBPyConnection:
    """One for all tests of the file: to make one takes longer than to ask it."""
    connection = duckdb.connect(config={"threads": 1})
    connection.execute("SET TimeZone = 'UTC'")
    return connection


def view_of(stage: Stage, name: str) -> str:
    """The statement that makes a view of a stage."""
    views = [one for one in of_stage(stage) if one.name == f"{stage.name}_{name}"]
    (statement,) = Opened(("main",), "/lake").statements(views)
    return statement


def opened(stage: Stage, view: str, **tables: pa.Table) -> duckdb.DuckDBPyConnection:
    """A DuckDB with these tables of a stage, and a view over them."""
    connection = in_memory()
    names = {"current": stage.name, "panes": f"{stage.name}_panes", "ticks": f"{stage.name}_ticks"}
    for kind, table in tables.items():
        connection.register(names[kind], table)
    connection.execute(view)
    return connection


def rows_of(connection: duckdb.DuckDBPyConnection, sql: str, stage: Stage) -> Rows:
    """The rows of a query in the columns of `current`, in one order."""
    return _sorted(connection.sql(sql).to_arrow_table().select(current_columns(stage)))


def _sorted(table: pa.Table) -> Rows:
    plain = [column.cast(pa.int64()) if pa.types.is_timestamp(column.type) else column for column in table.columns]
    return sorted(zip(*[column.to_pylist() for column in plain], strict=True), key=repr)


def panes_of(ticks: list[Tick], until: int) -> list[Pane]:
    return [pane for tick in ticks if tick.clock.tick <= until for pane in tick.panes]


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_as_it_stood_at_every_tick_and_time(file: Path) -> None:
    for place, stage, ticks in stages_of(file):
        every = panes_of(ticks, ticks[-1].clock.tick)
        kinds = panes_table(stage, every)
        connection = opened(stage, view_of(stage, "asof"), panes=kinds)
        for tick in ticks:
            number, now = tick.clock.tick, known(tick.clock.now)
            stood = _cast(current_table(stage, standing(stage, panes_of(ticks, number))), kinds)
            sql = f'SELECT * FROM "{stage.name}_asof" WHERE tick <= {number} AND {number} < valid_to_tick'
            assert rows_of(connection, sql, stage) == stood, f"{place}, tick {number}"
            is_newest = not any(later.clock.now == tick.clock.now and later.clock.tick > number for later in ticks)
            if now is not None and is_newest and 0 <= now < 4_000_000_000_000_000:
                at = f"make_timestamptz({now})"
                sql = f'SELECT * FROM "{stage.name}_asof" WHERE valid_from <= {at} AND {at} < valid_to'
                assert rows_of(connection, sql, stage) == stood, f"{place}, at {now}"


def _cast(table: pa.Table, kinds: pa.Table) -> Rows:
    """The rows in the types of another table: of an empty one they are not known."""
    return _sorted(table.cast(pa.schema([kinds.schema.field(name) for name in table.column_names])))


def test_what_a_view_of_history_adds() -> None:
    assert list(VALIDITY) == ["valid_to_tick", "valid_from", "valid_to"]


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_what_is_final_stays(file: Path) -> None:
    """A window that shows no more is final, whether or not its last pane said so: every one, once all have ended.

    And where the table `ticks` is ahead of `current`, nothing is final that changes later.
    """
    for place, stage, ticks in stages_of(file):
        before: Rows = []
        ahead: Rows = []
        view, every = view_of(stage, "final"), ticks_table(ticks)
        for tick in ticks:
            shown = standing(stage, panes_of(ticks, tick.clock.tick))
            current = current_table(stage, shown)
            known_by_then = ticks_table(one for one in ticks if one.clock.tick <= tick.clock.tick)
            final = _final(stage, view, current, known_by_then)
            assert [row for row in before if row not in final] == [], f"{place}, tick {tick.clock.tick}"
            assert len(final) >= len([pane for pane in shown if pane.is_last])
            newest = max((pane.tick for one in ticks for pane in one.panes), default=0)
            if tick.clock.watermark_after == INFINITY and any(pane.tick == newest for pane in shown):
                assert len(final) == len(shown), f"{place}, tick {tick.clock.tick}"
            before = final
            ahead += _final(stage, view, current, every) if tick is not ticks[-1] else []
        assert [row for row in ahead if row not in before] == [], place


def _final(stage: Stage, view: str, current: pa.Table, ticks: pa.Table) -> Rows:
    connection = opened(stage, view, current=current, ticks=ticks)
    return rows_of(connection, f'SELECT * FROM "{stage.name}_final"', stage)


def test_a_window_that_expired_without_a_pane_is_final() -> None:
    """Of three windows of a retracting stage with an allowed lateness; `is_last` alone would say that of none."""
    fields = {
        "name": "sums", "keys": ["k"], "window": {"fixed": {"size": "10s"}}, "accumulation": "retracting",
        "allowed_lateness": "5s", "aggregates": {"n": {"count": "*"}},
    }  # fmt: skip
    stage = Stage.from_mapping(fields)
    second = 1_000_000
    row = {
        "k": "a", "n": 1, "timing": "on_time", "pane_index": 0, "on_time_index": 0, "is_last": False,
        "event_time": None, "produced_at": None,
    }  # fmt: skip
    rows = [
        {
            **row,
            "window_start": start * second,
            "window_end": (start + 10) * second,
            "watermark": mark * second,
            "tick": tick,
        }
        for tick, (start, mark) in enumerate([(0, 11), (10, 21), (20, 34)], start=1)
    ]

    def final(ticks: pa.Table, shown: int = 3) -> list[int]:
        found = opened(stage, view_of(stage, "final"), current=_current(stage, rows[:shown]), ticks=ticks)
        return [row[0] for row in found.sql('SELECT tick FROM "sums_final" ORDER BY tick').fetchall()]

    marks = [0, 11, 21, 34]
    assert final(_ticks(["stream", "stream", "backfill", "stream"], marks)) == [1]
    assert final(_ticks(["stream", "follow", "backfill", "stream"], marks)) == [1], "a batch had it read on"
    assert final(_ticks(["stream", "forgetting", "backfill", "stream"], marks)) == [1]
    assert final(_ticks(["backfill", "forgetting", "backfill", "stream"], marks)) == [], "a batch has shown it early"
    every = ["stream"] * 5
    assert final(_ticks(every[:4], [0, 11, 21, END])) == [1, 2, 3]
    assert final(_ticks(every, [*marks, END], panes=0)) == [1, 2, 3], "the last tick has shown nothing"
    assert final(_ticks(every, [*marks, END], panes=1)) == [1, 2], "what the last tick has shown is not here yet"
    forgot = _ticks([*every[:3], "forgetting"], [0, 11, 21, 21], panes=0)
    assert final(forgot, shown=1) == [1], "the row of tick 2 was forgotten"
    assert final(_ticks(every, [None] * 4 + [END], panes=0)) == [1, 2, 3], "before that, no watermark was known"


END = -1
"""The watermark of a tick that has drained the stage."""


def _ticks(kinds: list[str], watermarks: list[int | None], panes: int = 0) -> pa.Table:
    """The table `ticks` from tick 0 on, with watermarks in seconds, and how many panes the last tick has shown."""
    count = len(kinds)
    micros = [None if mark in (None, END) else mark * 1_000_000 for mark in watermarks]
    values: dict[str, list[Any]] = {
        "tick": [*range(count)], "kind": kinds, "watermark": micros, "drained": [mark == END for mark in watermarks],
        "panes": [1] * (count - 1) + [panes], "retractions": [0] * count,
    }  # fmt: skip
    return pa.table({name: pa.array(values[name], kind) for name, kind in TICKS.items()})


def _current(stage: Stage, rows: list[dict[str, Any]]) -> pa.Table:
    return table_of(rows, current_columns(stage))


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_panes_that_add_up_are_one_row_a_window(file: Path) -> None:
    for place, stage, ticks in stages_of(file):
        if not has_combined(stage):
            continue
        shown = standing(stage, panes_of(ticks, ticks[-1].clock.tick))
        table = current_table(stage, shown)
        by = {name: how for name, how in combining(stage).items() if how == "sum"}
        if any(pa.types.is_string(table.schema.field(name).type) for name in by):
            continue
        connection = opened(stage, view_of(stage, "combined"), current=table)
        columns = ", ".join(f'CAST(sum("{name}") AS BIGINT)' for name in by) or "NULL"
        found = connection.sql(f'SELECT count(*), {columns} FROM "{stage.name}_combined"').fetchall()[0]
        windows = {(pane.key, pane.window) for pane in shown}
        sums = [_sum([pane.aggregates[name] for pane in shown]) for name in by] or [None]
        assert list(found) == [len(windows), *sums], place


def _sum(values: list[Any]) -> int | None:
    some = [value for value in values if value is not None]
    return sum(some) if some else None
