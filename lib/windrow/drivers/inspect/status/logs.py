"""How many rows the logs have that stages read, by step: the raw rows of a source, or the panes of another stage."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.compute as pc  # type: ignore[import-untyped]

from windrow.compile.elements.envelope import ARRIVAL_TIME, EVENT_TIME, OFFSET, PARTITION, REASON, STEP
from windrow.compile.panes.log_rows import PANE
from windrow.spec.stages.keys import LogColumn
from windrow.store.delta.floors import Floors, journal_floor
from windrow.store.delta.location import Lake
from windrow.store.reading.tables import NUMBER, Condition, Groups, LakeTable, Tables
from windrow.store.upstream.places import COUNT, END, FILES, KIND, PART

Landed = Mapping[str | None, tuple[int, int]]
"""By the reason why they are dead (None: alive): the rows that a stage has read, and those that it has not."""


_NUMBERS = pa.schema([("step", pa.int64()), ("reason", pa.string()), ("number", pa.int64())])


@dataclass(frozen=True)
class LogRows:
    """The rows of a log up to its last step: their numbers by step and reason. A year has a hundred thousand steps."""

    name: str
    last: int = 0
    numbers: pa.Table = field(default_factory=_NUMBERS.empty_table)

    @classmethod
    def of(cls, name: str, last: int, groups: Iterable[pa.Table]) -> LogRows:
        """Of groups whose columns are a step, a reason and a number."""
        found = pa.concat_tables(group.rename_columns(_NUMBERS.names).cast(_NUMBERS) for group in groups)
        return cls(name, last, found.filter(pc.less_equal(found["step"], last)))

    def landed(self, read: int) -> Landed:
        """As far as they are read up to a step."""
        told = self.numbers.append_column("is_read", pc.less_equal(self.numbers["step"], read))
        sums = told.group_by(["reason", "is_read"]).aggregate([("number", "sum")]).to_pylist()
        found = {(row["reason"], row["is_read"]): row["number_sum"] for row in sums}
        reasons = sorted({reason for reason, _ in found}, key=lambda reason: reason or "")
        return {reason: (found.get((reason, True), 0), found.get((reason, False), 0)) for reason in reasons}


def together(inputs: Sequence[Landed]) -> Landed:
    """The rows of several logs."""
    reasons = {reason: None for landed in inputs for reason in landed}
    both = {reason: [landed.get(reason, (0, 0)) for landed in inputs] for reason in reasons}
    return {reason: (sum(read for read, _ in found), sum(rest for _, rest in found)) for reason, found in both.items()}


def dead_rows(landed: Landed) -> dict[str, int]:
    """The dead rows that were read, by reason, the most first."""
    dead = {reason: read for reason, (read, _) in landed.items() if reason is not None}
    return dict(sorted(dead.items(), key=lambda item: -item[1]))


@dataclass(frozen=True)
class RawRows:
    """The raw rows of a source. Where they `are_elsewhere`, read in place, the table says what was counted of them."""

    name: str
    last: int
    table: LakeTable | None
    are_elsewhere: bool = False

    @classmethod
    def of(cls, tables: Tables, lake: Lake, source: str) -> RawRows:
        place = lake.raw(source)
        table = tables.open(place.location)
        last = 0 if table is None else table.last_step(place.app_id)
        return cls(source, last, table, table is not None and END in table.notes())

    @property
    def are_of_files(self) -> bool:
        """Whether they are read in place from files that are of no table."""
        return self.table is not None and FILES in self.table.notes().get(END, {})

    @cached_property
    def _groups(self) -> pa.Table:
        assert self.table is not None
        by, greatest, until = (STEP, REASON), (EVENT_TIME, ARRIVAL_TIME), Condition(STEP, "<=", self.last)
        if self.are_elsewhere:
            return self.table.groups(Groups(by, greatest, totals=(_ROWS,)), until, Condition(KIND, "=", COUNT))
        return self.table.groups(Groups(by, greatest), until)

    @cached_property
    def rows(self) -> LogRows:
        if self.last == 0:
            return LogRows(self.name)
        number = _ROWS if self.are_elsewhere else NUMBER
        return LogRows.of(self.name, self.last, [self._groups.select([STEP, REASON, number])])

    @property
    def times(self) -> tuple[int | None, int | None]:
        """The greatest event time of rows that are alive, and the last arrival."""
        alive = self._groups.filter(pc.is_null(self._groups[REASON]))
        return pc.max(alive[EVENT_TIME]).as_py(), pc.max(self._groups[ARRIVAL_TIME]).as_py()

    @property
    def files(self) -> int:
        """How many files they are of; the rows of a log of messages are of none, as their offsets are numbers."""
        assert self.table is not None
        if self.are_elsewhere:
            conditions = (Condition(STEP, "<=", self.last), Condition(KIND, "=", PART))
            (found,) = self.table.groups(Groups(totals=("files",)), *conditions).to_pylist()
            return found["files"] or 0
        conditions = (Condition(STEP, "<=", self.last), Condition(OFFSET, "is no number"))
        return int(self.table.groups(Groups(by=(OFFSET,)), *conditions).num_rows)

    @property
    def offsets(self) -> dict[str, int]:
        """The greatest offset of each partition, of a source whose offsets are numbers."""
        assert self.table is not None
        found = self.table.groups(Groups(by=(PARTITION,), greatest=(OFFSET,)), Condition(STEP, "<=", self.last))
        rows = sorted(found.to_pylist(), key=lambda row: _in_order(row[PARTITION]))
        return {row[PARTITION]: row[OFFSET] for row in rows}


_ROWS = "rows"


def panes_of(tables: Tables, lake: Lake, stage: str, generation: int) -> LogRows:
    """The panes of a stage, as another one reads them.

    Those of ticks that maintenance has dropped are counted in the table `panes`, which had them before.
    """
    place = lake.journal(stage, generation)
    journal = tables.open(place.location)
    last = 0 if journal is None else journal.last_step(place.app_id)
    if journal is None or last == 0:
        return LogRows(stage)
    floor = Floors.of(lake).read(tables, journal_floor(stage, generation))
    behind = Condition("tick", ">", floor)
    found = [journal.groups(Groups(by=("tick",)), Condition(LogColumn.KIND, "=", PANE), behind)]
    table = tables.open(lake.table(stage, "panes")) if floor else None
    if table is not None:
        found.append(table.groups(Groups(by=("tick",)), Condition("tick", "<=", floor)))
    return LogRows.of(stage, last, map(_without_reason, found))


def _without_reason(ticks: pa.Table) -> pa.Table:
    return ticks.select(["tick", NUMBER]).add_column(1, "reason", pa.nulls(ticks.num_rows, pa.string()))


def _in_order(partition: str | None) -> tuple[int, str]:
    """Numbers in their order: 2 is before 10."""
    return len(partition or ""), partition or ""
