"""Record windows: every record makes the window that ends at it and the one that starts behind it.

Rule: docs/semantics.md#record-windows.

With the resolution r and the difference d, a record at u (its time, taken down to a multiple of r) makes [u - d, u + r)
and [u + r, u + 2r + d). It is in each window [s, s + d + r) with s <= u < s + d + r.
"""

from __future__ import annotations

from collections.abc import Sequence

from tests.model.assign import Window, on_grid
from tests.model.clock import Clock
from tests.model.elements import Row
from tests.model.moments import expiry
from tests.model.state import CellKey, State
from tests.model.typed_stage import TypedStage
from windrow.spec.windows.records import RecordWindows

Pair = tuple[Row, Window]


def at_record(row: Row) -> Window:
    """The window that ends at a record."""
    (window,) = row.windows
    return window


def behind_record(function: RecordWindows, row: Row) -> Window:
    """The window that starts behind a record."""
    start = at_record(row).end
    return Window(start, start + function.length)


def last_around(function: RecordWindows, row: Row) -> Window:
    """The last window that can hold a record: the one that starts at it."""
    start = on_grid(function, row.event_time)
    return Window(start, start + function.length)


def holds(function: RecordWindows, window: Window, row: Row) -> bool:
    return window.start <= on_grid(function, row.event_time) < window.end


def in_time(typed: TypedStage, function: RecordWindows, rows: Sequence[Row], clock: Clock) -> list[Row]:
    """The records of a tick but those that are late altogether: no window that could hold them is still there."""
    return [row for row in rows if clock.watermark_before < expiry(typed, last_around(function, row))]


def pairs_of_tick(
    typed: TypedStage, function: RecordWindows, state: State, rows: Sequence[Row], clock: Clock
) -> list[Pair]:
    """The (record, window) pairs that are assigned in a tick.

    A window that is there as a cell gets the records of the tick; one that arises gets all that are known, also those
    of earlier ticks: these pairs are counted in the tick in which the window arises. A record whose own window has
    expired is late for that one; other windows that have expired are not there for it.
    """
    new = in_time(typed, function, rows, clock)
    late = [row for row in rows if clock.watermark_before >= expiry(typed, at_record(row))]
    pairs = [(row, at_record(row)) for row in late]
    for key, window in windows_there(typed, function, (*state.records, *new), clock):
        offered = new if (key, window) in state.cells else [*state.records, *new]
        pairs += [(row, window) for row in offered if row.key == key and holds(function, window, row)]
    return pairs


def windows_there(
    typed: TypedStage, function: RecordWindows, known: Sequence[Row], clock: Clock
) -> dict[CellKey, None]:
    """The windows that the known records make: those that hold one of them and had not expired before the tick."""
    made = [(row.key, window) for row in known for window in (at_record(row), behind_record(function, row))]
    return dict.fromkeys(
        (key, window)
        for key, window in made
        if clock.watermark_before < expiry(typed, window)
        and any(row.key == key and holds(function, window, row) for row in known)
    )


def remembered(
    typed: TypedStage, function: RecordWindows, state: State, rows: Sequence[Row], clock: Clock
) -> tuple[Row, ...]:
    """The records that are known in the next tick: each until the window behind it has expired."""
    known = [*state.records, *in_time(typed, function, rows, clock)]
    return tuple(row for row in known if clock.watermark_after < expiry(typed, behind_record(function, row)))
