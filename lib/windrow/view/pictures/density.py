"""Elements that are too many for dots, counted on a grid."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from windrow.view.pictures.values import Density, Element, Picture

MOST_DOTS = 250
"""More elements than these are counted on a grid."""
COLUMNS, ROWS = 60, 40

Span = tuple[int, int]


def condensed(picture: Picture) -> Picture:
    """The picture of a key with its elements on a grid, where they are too many for dots; one to scale."""
    if picture.by_tick or len(picture.elements) <= MOST_DOTS:
        return picture
    return replace(picture, elements=(), density=density_of(picture.elements))


def density_of(elements: Iterable[Element]) -> Density:
    """Of elements that are at hand. There must be one."""
    kept = list(elements)
    times, arrivals = [one.event_time for one in kept], [one.processing_time for one in kept]
    across, up = (min(times), max(times) + 1), (min(arrivals), max(arrivals) + 1)
    counts, late = Counter[tuple[int, int]](), Counter[tuple[int, int]]()
    for one in kept:
        place = _place(one.event_time, across, COLUMNS), _place(one.processing_time, up, ROWS)
        counts[place] += 1
        late[place] += one.is_late
    return Density(across, up, COLUMNS, ROWS, counts, +late)


def grid_query(times: str, arrivals: str, table: str, across: Span, up: Span) -> str:
    """A SELECT that counts the rows of a table on the grid, as `x`, `y` and `n`: the engine that reads it counts them.

    `times` and `arrivals` are columns of whole microseconds. What is not in the spans, or null, is not counted.
    """
    places = {"x": (times, across, COLUMNS), "y": (arrivals, up, ROWS)}
    inside = [f"{name} >= {first} AND {name} < {last}" for name, (first, last), _ in places.values()]
    columns = [
        f"CAST(FLOOR(CAST({name} - {first} AS DOUBLE) * {number} / {last - first}) AS BIGINT) AS {place}"
        for place, (name, (first, last), number) in places.items()
    ]
    placed = f"SELECT {', '.join(columns)} FROM {table} WHERE {' AND '.join(inside)}"
    return f"SELECT x, y, COUNT(*) AS n FROM ({placed}) AS placed GROUP BY x, y"


def density_of_grid(rows: Iterable[Mapping[str, Any]], across: Span, up: Span) -> Density:
    """Of what such queries have given."""
    counts = Counter[tuple[int, int]]()
    for row in rows:
        counts[min(row["x"], COLUMNS - 1), min(row["y"], ROWS - 1)] += row["n"]  # by rounding, over thousands of years
    return Density(across, up, COLUMNS, ROWS, counts)


def _place(time: int, span: Span, number: int) -> int:
    first, last = span
    return (time - first) * number // (last - first)
