"""What the reference model shows, as tables of Arrow with the columns that a lake has."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pyarrow as pa

from tests.model.chain import Chain
from tests.model.panes import Pane
from tests.model.table import current
from tests.model.tick import Tick
from windrow.spec.pipelines.table_columns import PANE_TYPES, current_columns, pane_columns
from windrow.spec.stages.stage import Stage
from windrow.spec.times import INFINITY, MINUS_INFINITY
from windrow.spec.transcripts.cases import Case

TIME = pa.timestamp("us", tz="UTC")
KINDS: Mapping[str, pa.DataType] = {
    "timestamp": TIME, "string": pa.string(), "int": pa.int32(), "bigint": pa.int64(), "boolean": pa.bool_(),
}  # fmt: skip


def run(case: Case) -> dict[str, list[Tick]]:
    """The ticks of every stage of a transcript."""
    chain = Chain(case.stages, case.schema, case.watermark_from, case.size, case.weight)
    ticks: dict[str, list[Tick]] = {stage.name: [] for stage in case.stages}
    for step in case.steps:
        for name, tick in chain.tick(step.add, step.now, step.watermark).items():
            ticks[name].append(tick)
    return ticks


def standing(stage: Stage, panes: Sequence[Pane]) -> list[Pane]:
    """The rows of `current` that these panes leave, by the plain rule of the model."""
    clears = stage.is_discarding or stage.is_mixed
    if stage.join is None:
        return list(current(panes, clears).values())
    numbers = sorted({pane.aggregates["row"] for pane in panes})
    return [row for number in numbers for row in current(_rows(panes, number), clears).values()]


def _rows(panes: Iterable[Pane], number: int) -> list[Pane]:
    return [pane for pane in panes if pane.aggregates["row"] == number]


def panes_table(stage: Stage, panes: Iterable[Pane]) -> pa.Table:
    """The table `panes`."""
    return table_of([row_of(pane) for pane in panes], pane_columns(stage))


def current_table(stage: Stage, rows: Iterable[Pane]) -> pa.Table:
    """The table `current`."""
    return table_of([row_of(pane) for pane in rows], current_columns(stage))


TICKS: Mapping[str, pa.DataType] = {
    "tick": pa.int64(), "kind": pa.string(), "watermark": TIME, "drained": pa.bool_(), "panes": pa.int64(),
    "retractions": pa.int64(),
}  # fmt: skip
"""What `_final` asks of the table `ticks`."""


def ticks_table(ticks: Iterable[Tick]) -> pa.Table:
    """That of the ticks of a stream."""
    rows = [
        {
            "tick": one.clock.tick, "kind": "stream", "watermark": known(one.clock.watermark_after),
            "drained": one.clock.watermark_after == INFINITY,
            "panes": sum(pane.weight > 0 for pane in one.panes),
            "retractions": sum(pane.weight < 0 for pane in one.panes),
        }
        for one in ticks
    ]  # fmt: skip
    return pa.table({name: pa.array([row[name] for row in rows], kind) for name, kind in TICKS.items()})


def row_of(pane: Pane) -> dict[str, Any]:
    """A pane as a row of its table, with times in microseconds."""
    row = {**pane.row(), "pane_index": pane.index, "window_start": pane.window.start, "window_end": pane.window.end}
    times = ("window_start", "window_end", "event_time", "watermark", "produced_at")
    return {**row, **{name: known(row[name]) for name in times}}


def known(time: int | None) -> int | None:
    """A time, or null for the infinities."""
    return None if time in (None, INFINITY, MINUS_INFINITY) else time


def table_of(rows: Sequence[Mapping[str, Any]], names: Sequence[str]) -> pa.Table:
    return pa.table({name: _column([row[name] for row in rows], PANE_TYPES.get(name)) for name in names})


def _column(values: list[Any], kind: str | None) -> pa.Array:
    """Results have the types of their values; those that are no numbers are texts."""
    if kind is not None:
        return pa.array(values, KINDS[kind])
    some = [value for value in values if value is not None]
    if some and all(type(value) is bool for value in some):
        return pa.array(values, pa.bool_())
    if all(type(value) is int and abs(value) < 2**62 for value in some):
        return pa.array(values, pa.int64())
    texts = [value if isinstance(value, str | None) else repr(value) for value in values]
    return pa.array(texts, pa.string())
