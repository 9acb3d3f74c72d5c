"""How many rows the logs have that stages read, by step: the raw rows of a source, or the panes of another stage."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from windrow.compile.elements.envelope import ARRIVAL_TIME, EVENT_TIME, OFFSET, PARTITION, REASON, STEP
from windrow.compile.panes.log_rows import PANE
from windrow.spec.stages.keys import LogColumn
from windrow.store.delta.floors import Floors, journal_floor
from windrow.store.delta.location import Lake
from windrow.store.reading.tables import Condition, Groups, LakeTable, Tables
from windrow.store.upstream.places import COUNT, END, FILES, KIND, PART

Landed = Mapping[str | None, tuple[int, int]]
"""By the reason why they are dead (None: alive): the rows that a stage has read, and those that it has not."""

Numbers = Mapping[str | None, int]
"""Rows by that reason."""


@dataclass(frozen=True)
class LogRows:
    """The rows of a log up to its last step, between the steps up to which somebody has read it.

    `spans` have the last step of each, and its rows.
    """

    name: str
    last: int = 0
    spans: Sequence[tuple[int, Numbers]] = ()

    @classmethod
    def of(cls, name: str, last: int, read: Iterable[int], count: Callable[[int, int], Numbers]) -> LogRows:
        """`count` says how many rows there are behind a step and up to another one."""
        ends = sorted({last, *(step for step in read if 0 < step < last)})
        return cls(name, last, [(end, count(begin, end)) for begin, end in pairwise([0, *ends])])

    def landed(self, read: int) -> Landed:
        """As far as they are read up to one of these steps."""
        assert read == 0 or read >= self.last or read in dict(self.spans), f"{self.name} was not counted at step {read}"
        found = [(numbers, end <= read) for end, numbers in self.spans]
        reasons = sorted({reason for numbers, _ in found for reason in numbers}, key=lambda reason: reason or "")
        return {
            reason: (
                sum(numbers.get(reason, 0) for numbers, is_read in found if is_read),
                sum(numbers.get(reason, 0) for numbers, is_read in found if not is_read),
            )
            for reason in reasons
        }


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

    def rows(self, read: Iterable[int]) -> LogRows:
        """Counted between the steps up to which stages have read them."""
        return LogRows.of(self.name, self.last, read, self._numbers) if self.last else LogRows(self.name)

    def _numbers(self, after: int, until: int) -> Numbers:
        assert self.table is not None
        steps = (Condition(STEP, ">", after), Condition(STEP, "<=", until))
        if not self.are_elsewhere:
            return self.table.numbers(REASON, *steps)
        counted = self.table.groups(Groups(by=(REASON,), totals=(_ROWS,)), *steps, Condition(KIND, "=", COUNT))
        return {row[REASON]: row[_ROWS] or 0 for row in counted.to_pylist()}

    @property
    def times(self) -> tuple[int | None, int | None]:
        """The greatest event time of rows that are alive, and the last arrival."""
        assert self.table is not None
        until = [Condition(STEP, "<=", self.last)]
        if self.are_elsewhere:
            until.append(Condition(KIND, "=", COUNT))
        alive = self.table.greatest(EVENT_TIME, *until, Condition(REASON, "is unknown"))
        return alive, self.table.greatest(ARRIVAL_TIME, *until)

    def files(self, landings: LakeTable | None) -> int:
        """How many files have landed; the rows of a log of messages are of none, as their offsets are numbers.

        `landings` has counted them, up to some step. Behind it they are counted by their paths.
        """
        assert self.table is not None
        if self.are_elsewhere:
            conditions = (Condition(STEP, "<=", self.last), Condition(KIND, "=", PART))
            (found,) = self.table.groups(Groups(totals=("files",)), *conditions).to_pylist()
            return found["files"] or 0
        counted, until = 0, 0
        if landings is not None:
            until = min(int(landings.notes().get("raw_step", 0)), self.last)
            (sums,) = landings.groups(Groups(totals=("files",)), Condition("step", "<=", until)).to_pylist()
            counted = sums["files"] or 0
        behind = (Condition(STEP, ">", until), Condition(STEP, "<=", self.last), Condition(OFFSET, "is no number"))
        return counted + int(self.table.groups(Groups(by=(OFFSET,)), *behind).num_rows)

    @property
    def offsets(self) -> dict[str, int]:
        """The greatest offset of each partition, of a source whose offsets are numbers."""
        assert self.table is not None
        found = self.table.groups(Groups(by=(PARTITION,), greatest=(OFFSET,)), Condition(STEP, "<=", self.last))
        rows = sorted(found.to_pylist(), key=lambda row: _in_order(row[PARTITION]))
        return {row[PARTITION]: row[OFFSET] for row in rows}


_ROWS = "rows"


def panes_of(tables: Tables, lake: Lake, stage: str, generation: int, read: Iterable[int]) -> LogRows:
    """The panes of a stage, as others read them, between the ticks up to which they have.

    Those of ticks that maintenance has dropped are counted in the table `panes`, which had them before.
    """
    place = lake.journal(stage, generation)
    journal = tables.open(place.location)
    last = 0 if journal is None else journal.last_step(place.app_id)
    if journal is None or last == 0:
        return LogRows(stage)
    floor = Floors.of(lake).read(tables, journal_floor(stage, generation))
    table = tables.open(lake.table(stage, "panes")) if floor else None

    def count(after: int, until: int) -> Numbers:
        ticks = (Condition("tick", ">", max(after, floor)), Condition("tick", "<=", until))
        found = Counter(journal.numbers(None, Condition(LogColumn.KIND, "=", PANE), *ticks))
        if table is not None and after < floor:
            found.update(table.numbers(None, Condition("tick", ">", after), Condition("tick", "<=", min(until, floor))))
        return found

    return LogRows.of(stage, last, read, count)


def _in_order(partition: str | None) -> tuple[int, str]:
    """Numbers in their order: 2 is before 10."""
    return len(partition or ""), partition or ""
