"""Elements that are too many for dots, counted on a grid. Arrow counts them, a batch at a time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
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


def density_of_batches(batches: Iterable[tuple[Any, Any]], across: Span, up: Span) -> Density:
    """Of Arrow arrays of event times and processing times, in whole microseconds.

    What is not in the spans is not counted. Millions of rows need no more memory than a batch.
    """
    import pyarrow.compute as pc  # type: ignore[import-untyped]

    counts = Counter[tuple[int, int]]()
    for times, arrivals in batches:
        column, row = _places(times, across, COLUMNS), _places(arrivals, up, ROWS)
        inside = pc.and_(_is_inside(column, COLUMNS), _is_inside(row, ROWS))
        place = pc.filter(pc.add(pc.multiply(row, COLUMNS), column), inside, null_selection_behavior="drop")
        for found in pc.value_counts(place).to_pylist():
            counts[found["values"] % COLUMNS, found["values"] // COLUMNS] += found["counts"]
    return Density(across, up, COLUMNS, ROWS, counts)


def _place(time: int, span: Span, number: int) -> int:
    first, last = span
    return (time - first) * number // (last - first)


def _places(times: Any, span: Span, number: int) -> Any:
    """Where each of them is on an axis. Fractions round down, also below the first."""
    import pyarrow as pa
    import pyarrow.compute as pc

    first, last = span
    since = pc.cast(pc.subtract(pc.cast(times, pa.int64()), first), pa.float64())
    return pc.cast(pc.floor(pc.divide(pc.multiply(since, float(number)), float(last - first))), pa.int64())


def _is_inside(places: Any, number: int) -> Any:
    import pyarrow.compute as pc

    return pc.and_(pc.greater_equal(places, 0), pc.less(places, number))
