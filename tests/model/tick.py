"""The tick: one transition `(state, elements, clock) -> (state, panes, dead letters, counts)`.

Rule: docs/semantics.md#ticks.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from tests.model import merge, records
from tests.model.assign import Window
from tests.model.cells import Cell
from tests.model.clock import Clock
from tests.model.elements import CLOSED, LATE, DeadLetter, Element, Reading, Row, read
from tests.model.firing import evaluate_cell
from tests.model.moments import expiry, moment_of
from tests.model.panes import Pane
from tests.model.state import CellKey, Cells, State
from tests.model.typed_stage import TypedStage
from windrow.spec.windows.records import RecordWindows

Pair = tuple[Row, Window]


@dataclass(frozen=True)
class Counts:
    """What became of a tick's elements, and of the (element, window) pairs `assigned`.

    `read` = `in_windows` + `unassigned` + `filtered` + those dead as a whole, by reason; `assigned` = `aggregated` +
    `late` + `closed`. A record that an earlier tick has read is assigned again to a window that arises later.
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
    """What a tick gives: the state after it, its panes in order, its dead letters, and its counts."""

    clock: Clock
    state: State
    panes: tuple[Pane, ...]
    dead: tuple[DeadLetter, ...]
    counts: Counts

    @property
    def cells(self) -> Cells:
        return self.state.cells


def tick(typed: TypedStage, state: State, elements: Iterable[Element], clock: Clock) -> Tick:
    """One tick. The state that is given stays as it is."""
    return transition(
        typed, state, read(typed, elements, clock.now, clock.watermark_before, clock.output_watermark), clock
    )


def transition(typed: TypedStage, state: State, reading: Reading, clock: Clock) -> Tick:
    """One tick over elements that have been read, of one input or of several."""
    cells = {key: cell.copied() for key, cell in state.cells.items()}
    pairs = assigned(typed, state, reading.rows, clock)
    kept, dead = judge(typed, state, pairs, clock)
    rows = combine(kept)
    if typed.stage.window.MERGES:
        rows = merge.merge(typed, cells, rows, clock)
    add(typed, cells, rows, clock)
    evaluated = in_order(cells)
    panes = [pane for key in evaluated for pane in advance(typed, cells, key, clock, key in rows)]
    expired = [*state.expired, *[key for key in evaluated if key not in cells]]
    after = State(cells, merge.remembered(typed, expired, clock), known(typed, state, reading.rows, clock))
    return Tick(clock, after, tuple(panes), (*reading.dead, *dead), _counts(reading, pairs, kept, dead))


def assigned(typed: TypedStage, state: State, rows: Sequence[Row], clock: Clock) -> list[Pair]:
    """The (element, window) pairs of the tick, before any of them is judged."""
    if isinstance(typed.stage.window, RecordWindows):
        return records.pairs_of_tick(typed, typed.stage.window, state, rows, clock)
    return [(row, window) for row in rows for window in row.windows]


def known(typed: TypedStage, state: State, rows: Sequence[Row], clock: Clock) -> tuple[Row, ...]:
    """The elements that later ticks have to know one by one."""
    if isinstance(typed.stage.window, RecordWindows):
        return records.remembered(typed, typed.stage.window, state, rows, clock)
    return ()


def judge(typed: TypedStage, state: State, pairs: Sequence[Pair], clock: Clock) -> tuple[list[Pair], list[DeadLetter]]:
    """The pairs that count, and the dead letters of those whose window has expired or is closed."""
    kept, dead = [], []
    for row, window in pairs:
        reason = _why_dead(typed, state, row, window, clock)
        if reason is None:
            kept.append((row, window))
        else:
            dead.append(DeadLetter(reason, row.element, row.event_time, window))
    return kept, dead


def _why_dead(typed: TypedStage, state: State, row: Row, window: Window, clock: Clock) -> str | None:
    """Windows that merge are judged before they do: by the proto-window, and by what it would have merged with."""
    if clock.watermark_before >= expiry(typed, window) or _meets_one_of(typed, state.expired, row, window):
        return LATE
    closed = [key for key, cell in state.cells.items() if cell.is_closed]
    return CLOSED if _meets_one_of(typed, closed, row, window) else None


def _meets_one_of(typed: TypedStage, others: Iterable[CellKey], row: Row, window: Window) -> bool:
    return any(key == row.key and merge.meets(typed.stage.window, window, other) for key, other in others)


def combine(kept: Sequence[Pair]) -> dict[CellKey, list[Row]]:
    """The elements of the tick by key and window."""
    combined: dict[CellKey, list[Row]] = {}
    for row, window in kept:
        combined.setdefault((row.key, window), []).append(row)
    return combined


def add(typed: TypedStage, cells: dict[CellKey, Cell], rows: Mapping[CellKey, Sequence[Row]], clock: Clock) -> None:
    """Add the elements to their cells, each cell's at once."""
    for key, added in rows.items():
        cell = cells.setdefault(key, Cell.empty(typed))
        cell.add(added, moment_of(typed, key[1], clock))


def advance(
    typed: TypedStage, cells: dict[CellKey, Cell], key: CellKey, clock: Clock, got_elements: bool
) -> list[Pane]:
    """Evaluate the cell if it must be, and forget it if it has expired; the panes that it emits."""
    cell, moment = cells[key], moment_of(typed, key[1], clock)
    panes: list[Pane] = []
    if not cell.is_closed:
        cell.trigger.on_watermark(moment)
        if got_elements or moment.is_expired or cell.trigger.is_timer_due(moment):
            panes = evaluate_cell(typed, *key, cell, clock, moment)
    if moment.is_expired:
        del cells[key]
    return panes


def in_order(cells: Cells) -> list[CellKey]:
    """The cells in the order in which they are evaluated: by window, then key, so that a run can be repeated."""
    return sorted(cells, key=lambda key: (key[1], repr(key[0])))


def _counts(reading: Reading, pairs: Sequence[Pair], kept: Sequence[Pair], dead: Sequence[DeadLetter]) -> Counts:
    in_windows = len({id(row) for row in reading.rows} & {id(row) for row, _ in pairs})
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
