"""The elements of a window: rows of its key with the tick that read each, and where each is.

Rules: docs/semantics.md#where-every-row-is, docs/semantics.md#lateness-expiry-and-closing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from windrow.compile.elements.envelope import (
    ARRIVAL_TIME,
    ENVELOPE,
    EVENT_TIME,
    OFFSET,
    PARTITION,
    QUARANTINED,
    REASON,
    ROW,
    STEP,
)
from windrow.drivers.inspect.explain.question import Bounds, Question
from windrow.drivers.inspect.explain.reading.judging import Judge, Judged
from windrow.drivers.inspect.explain.reading.rows import Row, Rows
from windrow.drivers.inspect.explain.reading.ticks import COUNTED, IN_TIME, Ticks, known
from windrow.spec.times import MINUS_INFINITY
from windrow.store.journal.control import Control
from windrow.store.upstream.offsets import Offsets
from windrow.view.explain.life import COUNTED_BY_BATCH, IN_RESULT, NOT_READ, LifeElement


@dataclass(frozen=True)
class Member:
    """A row of the key that concerns the window, by the input that it came from, and the tick that read it.

    `gone_at` is the landing step in which its file was quarantined after a tick had read it.
    """

    input: str
    source: str
    judged: Judged
    place: str
    control: Control | None
    gone_at: int | None = None

    @property
    def step(self) -> int:
        return int(self.judged.row[STEP])

    @property
    def is_element(self) -> bool:
        """Whether it fell into the window, late or not."""
        return self.judged.place == IN_RESULT

    def is_added_until(self, tick: int) -> bool:
        """Whether a stream has put it into the window by a tick."""
        return self.is_element and self.place == IN_RESULT and self._is_read_by(tick)

    def is_in(self, offsets: Offsets, restates: bool) -> bool:
        """Whether a batch counts it that reads so far; `restates`: late rows too."""
        until = offsets.of(self.input)
        is_gone = self.gone_at is not None and self.gone_at <= until
        counts = restates or self.place not in ("late", "closed")
        return self.is_element and self.step <= until and counts and not is_gone

    def _is_read_by(self, tick: int) -> bool:
        return self.control is not None and self.control.tick <= tick


def as_rows(panes: Rows, stage: str) -> Rows:
    """Panes as the rows of a stage that reads them: with the envelope of rows of a source."""

    def row(pane: Row) -> Row:
        at = MINUS_INFINITY if pane["event_time"] is None else pane["event_time"]
        nothing = dict.fromkeys(ENVELOPE)
        return {**pane, **nothing, STEP: pane["tick"], EVENT_TIME: at, PARTITION: stage}

    return Rows(panes.kinds, [row(pane) for pane in panes.rows])


@dataclass(frozen=True)
class Gathering:
    """How the rows of one input become members of a window. `holds` says whether the window holds an element.

    `by_letters`: only the dead letters say which elements were late, as windows were others before they merged.
    """

    name: str
    source: str
    judge: Judge
    question: Question
    ticks: Ticks
    holds: Callable[[Judged], bool]
    by_letters: bool = False

    def members(self, rows: Iterable[Row], window: Bounds | None) -> list[Member]:
        """Those of the key that lie in the window, and rows that are dead or filtered beside them."""
        judged = [one for row in rows for one in self._judged(row)]
        mine = [one for one in judged if one.key is not None and self.question.means(one.key)]
        return [self._member(one, window) for one in mine if one.event_time is None or self.holds(one)]

    def _judged(self, row: Row) -> list[Judged]:
        """A row; a quarantined one that a tick had read alive as what it was to that tick."""
        found = list(self.judge.judged(row))
        if row.get(REASON) != QUARANTINED or not self.judge.was_alive(row):
            return found
        control = self.ticks.reading(self.name, row[STEP])
        if control is None or control.offsets.of(self.name) >= _quarantined_at(row):
            return found
        return [replace(one, row=row) for one in self.judge.judged({**row, REASON: None})]

    def _member(self, judged: Judged, window: Bounds | None) -> Member:
        row = judged.row
        control, gone_at = self.ticks.reading(self.name, row[STEP]), None
        place = judged.place
        if place == IN_RESULT:
            if row.get(REASON) == QUARANTINED:
                gone_at = _quarantined_at(row)
            place = self._place(control, row[STEP], window)
        return Member(self.name, self.source, judged, place, control, gone_at)

    def _place(self, control: Control | None, step: int, window: Bounds | None) -> str:
        """Where an element is in time, by its window and the tick."""
        if control is None:
            return NOT_READ
        if window is None or self.by_letters:
            return IN_RESULT
        how = self.ticks.arrival(control, self.name, step, window)
        return IN_RESULT if how == IN_TIME else COUNTED_BY_BATCH if how == COUNTED else "late"


def _quarantined_at(row: Row) -> int:
    """The landing step in which the file of a row was taken out, from its rule."""
    return int(str(row["_rule"]).rsplit(" ", 1)[1])


@dataclass(frozen=True)
class Masks:
    """What nobody is shown of the rows of an input: columns, in lower case, and what aggregates take of them."""

    hidden: frozenset[str] = frozenset()
    values: frozenset[str] = frozenset()
    partition: bool = False


def life_element(member: Member, masks: Masks, letter: Row | None) -> LifeElement:
    """A member as people see it; `letter` is its dead letter."""
    judged, row, control = member.judged, member.judged.row, member.control
    columns = {name: value for name, value in row.items() if name not in ENVELOPE}
    gone = f"its file was quarantined in landing step {member.gone_at}, after it had been read"
    return LifeElement(
        source=member.source,
        place=member.place if member.gone_at is None else QUARANTINED,
        event_time=judged.event_time,
        arrival_time=row[ARRIVAL_TIME],
        tick=None if control is None else control.tick,
        processing_time=None if control is None else known(control.clock.now),
        step=row[STEP],
        row=row[ROW],
        partition=MASK if row[PARTITION] is not None and masks.partition else row[PARTITION],
        offset=row[OFFSET],
        weight=judged.weight,
        why=judged.why if member.gone_at is None else gone,
        values={name: MASK if name in masks.values else value for name, value in judged.values.items()},
        columns={name: MASK if name.lower() in masks.hidden else value for name, value in columns.items()},
        restated_by=None if letter is None else letter["restated_by"],
    )


MASK = "***"
"""What stands for a value that nobody is shown."""
