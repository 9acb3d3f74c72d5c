"""What plain Python finds over the rows of `tests/lake.py`: windows of any family, with how many rows are in each.

Which windows an element falls in by itself the reference model says; sessions and record windows are found here, in the
plainest way there is.
"""

from __future__ import annotations

import json

from tests.lake import ROWS, rows_of
from tests.model.assign import NoWindows, windows_of
from tests.model.expressions import evaluate
from windrow.spec.times import INFINITY, parse_time
from windrow.spec.windows.base import WindowFunction
from windrow.spec.windows.records import RecordWindows
from windrow.spec.windows.sessions import Sessions

Window = tuple[str | None, int | None, int | None]
"""A key, and the bounds of a window: None for those of the global one, as tables have them."""
Sums = tuple[int, int]
"""The number of rows in a window, and the sum of their values."""
Rows = list[tuple[int, int]]
"""The event times and values of a key, in their order."""


def living_rows(numbers: range) -> dict[str | None, Rows]:
    """The rows of these files that are no poison, by their key."""
    found: dict[str | None, Rows] = {}
    for line in (line for number in numbers for line in rows_of(number)):
        row = json.loads(line) if line.endswith("}") else {"d": 0}
        if row["d"] != 0 and isinstance(row["v"], int) and row["at"] < "3":
            found.setdefault(row["k"], []).append((parse_time(row["at"]), row["v"]))
    assert sum(map(len, found.values())) == len(numbers) * ROWS
    return {key: sorted(rows) for key, rows in found.items()}


def summed(window: WindowFunction, numbers: range) -> dict[Window, Sums]:
    """All windows over the rows of these files, as if none of them were late."""
    found: dict[Window, Sums] = {}
    for key, rows in living_rows(numbers).items():
        for (start, end), values in _windows(window, key, rows).items():
            bounds = (None, None) if end == INFINITY else (start, end)
            found[key, *bounds] = (len(values), sum(values))
    return found


def _windows(window: WindowFunction, key: str | None, rows: Rows) -> dict[tuple[int, int], list[int]]:
    """The windows of a key, and the values in each."""
    match window:
        case Sessions():
            return _sessions(rows, window.longest_gap)
        case RecordWindows():
            return _records(rows, window.length, window.resolution)
    found: dict[tuple[int, int], list[int]] = {}
    for at, value in rows:
        of_row = {name: evaluate(of, {"v": value}, {"v": "bigint"}) for name, of in window.expressions.items()}
        try:
            windows = windows_of(window, at, (key,), ("string",), of_row)
        except NoWindows:
            continue
        for start, end in windows:
            found.setdefault((start, end), []).append(value)
    return found


def _sessions(rows: Rows, gap: int) -> dict[tuple[int, int], list[int]]:
    """Rows less than a gap apart, from the first to one gap behind the last."""
    sessions: list[Rows] = []
    for at, value in rows:
        if not sessions or at >= sessions[-1][-1][0] + gap:
            sessions.append([])
        sessions[-1].append((at, value))
    return {(one[0][0], one[-1][0] + gap): [value for _, value in one] for one in sessions}


def _records(rows: Rows, length: int, resolution: int) -> dict[tuple[int, int], list[int]]:
    """Every distinct set of rows that a window of this length holds, once: tried start by start."""
    found, seen = {}, set()
    for start in range(rows[0][0] - length, rows[-1][0] + 1, resolution):
        inside = [(at, value) for at, value in rows if start <= at < start + length]
        times = frozenset(at for at, _ in inside)
        if times and times not in seen:
            seen.add(times)
            found[start, start + length] = [value for _, value in inside]
    return found
