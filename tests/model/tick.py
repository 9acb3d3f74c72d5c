"""The tick: one transition `(cells, elements, clock) -> (cells, panes, dead letters, counts)`. SEMANTICS section 2."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tests.model.assign import Window
from tests.model.cells import Cell
from tests.model.clock import Clock
from tests.model.elements import CLOSED, LATE, DeadLetter, Element, Reading, Row, read
from tests.model.firing import ask
from tests.model.panes import Pane
from tests.model.trigger_leaves import Moment
from tests.model.typed_stage import TypedStage
from windrow.spec.times import saturating_add

CellKey = tuple[tuple[Any, ...], Window]
Cells = Mapping[CellKey, Cell]
Pair = tuple[Row, Window]


@dataclass(frozen=True)
class Counts:
    """What became of a tick's elements, and of the (element, window) pairs `assigned`.

    `read` = `in_windows` + `unassigned` + `filtered` + those dead as a whole, by reason; `assigned` = `aggregated` +
    `late` + `closed`.
    """

    read: int
    in_windows: int
    unassigned: int
    filtered: int
    dead: Mapping[str, int]
    assigned: int
    aggregated: int
    late: int
    closed: int


@dataclass(frozen=True)
class Tick:
    """What a tick gives: the cells after it, its panes in order, its dead letters, and its counts."""

    clock: Clock
    cells: Cells
    panes: tuple[Pane, ...]
    dead: tuple[DeadLetter, ...]
    counts: Counts


def tick(typed: TypedStage, cells: Cells, elements: Iterable[Element], clock: Clock) -> Tick:
    """One tick. The cells that are given stay as they are."""
    after = {key: cell.copied() for key, cell in cells.items()}
    reading = read(typed, elements, clock.now)
    pairs = [(row, window) for row in reading.rows for window in row.windows]
    kept, dead = judge(typed, after, pairs, clock)
    touched = add(typed, after, kept, clock)
    panes = [pane for key in in_order(after) for pane in advance(typed, after, key, clock, key in touched)]
    counts = _counts(reading, pairs, kept, dead)
    return Tick(clock, after, tuple(panes), (*reading.dead, *dead), counts)


def judge(typed: TypedStage, cells: Cells, pairs: Sequence[Pair], clock: Clock) -> tuple[list[Pair], list[DeadLetter]]:
    """The pairs that count, and the dead letters of those whose window has expired or is closed."""
    kept, dead = [], []
    for row, window in pairs:
        reason = _why_dead(typed, cells, row, window, clock)
        if reason is None:
            kept.append((row, window))
        else:
            dead.append(DeadLetter(reason, row.element, row.event_time, window))
    return kept, dead


def _why_dead(typed: TypedStage, cells: Cells, row: Row, window: Window, clock: Clock) -> str | None:
    if clock.watermark_before >= expiry(typed, window):
        return LATE
    cell = cells.get((row.key, window))
    return CLOSED if cell is not None and cell.is_closed else None


def add(typed: TypedStage, cells: dict[CellKey, Cell], kept: Sequence[Pair], clock: Clock) -> set[CellKey]:
    """Add the elements to their cells, each cell's at once; the cells that got some."""
    combined: dict[CellKey, list[Row]] = {}
    for row, window in kept:
        combined.setdefault((row.key, window), []).append(row)
    for key, rows in combined.items():
        cell = cells.setdefault(key, Cell.empty(typed))
        cell.add(rows, moment_of(typed, key, clock))
    return set(combined)


def advance(
    typed: TypedStage, cells: dict[CellKey, Cell], key: CellKey, clock: Clock, got_elements: bool
) -> list[Pane]:
    """Ask the cell if it must be asked, and forget it if it has expired; the panes that it emits."""
    cell, moment = cells[key], moment_of(typed, key, clock)
    panes: list[Pane] = []
    if not cell.is_closed:
        cell.trigger.on_watermark(moment)
        if got_elements or moment.is_expired or cell.trigger.is_due(moment):
            panes = ask(typed, *key, cell, clock, moment)
    if moment.is_expired:
        del cells[key]
    return panes


def in_order(cells: Cells) -> list[CellKey]:
    """The cells in the order in which they are asked: by window, then key, so that a run can be repeated."""
    return sorted(cells, key=lambda key: (key[1], repr(key[0])))


def expiry(typed: TypedStage, window: Window) -> int:
    """The watermark at which a window expires: a sum that stays at +infinity."""
    return saturating_add(window.end, typed.stage.allowed_lateness)


def moment_of(typed: TypedStage, key: CellKey, clock: Clock) -> Moment:
    window = key[1]
    return Moment(
        window.end,
        expiry(typed, window),
        clock.now,
        clock.watermark_before,
        clock.watermark_after,
        clock.watermark_of,
        clock.output_watermark,
    )


def _counts(reading: Reading, pairs: Sequence[Pair], kept: Sequence[Pair], dead: Sequence[DeadLetter]) -> Counts:
    in_windows = len({id(row) for row, _ in pairs})
    reasons = Counter(letter.reason for letter in dead)
    return Counts(
        read=len(reading.rows) + len(reading.filtered) + len(reading.dead),
        in_windows=in_windows,
        unassigned=len(reading.rows) - in_windows,
        filtered=len(reading.filtered),
        dead=Counter(letter.reason for letter in reading.dead),
        assigned=len(pairs),
        aggregated=len(kept),
        late=reasons[LATE],
        closed=reasons[CLOSED],
    )
