"""Windows of fixed lengths as columns in Spark beside the model's: how many, which have expired, and their bounds."""

import random
from collections.abc import Iterator

import pytest

from tests.model.assign import Window, assign
from windrow.compile.sql.columns import Column, array, call
from windrow.compile.windows.families import NonMergingWindows
from windrow.compile.windows.registry import compile_windows
from windrow.drivers.spark.session import small_session
from windrow.engine.frames import select
from windrow.spec.times import (
    DAY,
    EARLIEST_EVENT_TIME,
    INFINITY,
    LATEST_EVENT_TIME,
    MINUS_INFINITY,
    SECOND,
)
from windrow.spec.windows.aligned import CumulativeWindows, FixedWindows, SlidingWindows
from windrow.spec.windows.base import WindowFunction

AT = Column("t")
WINDOWS = [
    FixedWindows(1), FixedWindows(7, 3), FixedWindows(DAY), FixedWindows(400 * 365 * DAY, 17),
    SlidingWindows(7, 3, 1), SlidingWindows(3, 7, 6), SlidingWindows(30 * SECOND, 7 * SECOND, 1),
    SlidingWindows(400 * 365 * DAY, 365 * DAY),
    CumulativeWindows(1, 1), CumulativeWindows(6, 2, 5), CumulativeWindows(30 * SECOND, 10 * SECOND, 25 * SECOND),
    CumulativeWindows(400 * 365 * DAY, 100 * 365 * DAY, 1), CumulativeWindows(10_000, 1),
]  # fmt: skip
ENDS = (MINUS_INFINITY, MINUS_INFINITY + 1, -8, 0, 6, 30 * SECOND, INFINITY - 1, INFINITY)
"""Up to where windows have expired."""


def instants() -> list[int]:
    chance = random.Random(1)
    near = [*range(-20, 21), *(at + shift for at in (-30 * SECOND, 30 * SECOND) for shift in (-1, 0, 1))]
    return [*near, EARLIEST_EVENT_TIME, LATEST_EVENT_TIME, *(chance.randrange(-DAY, DAY) for _ in range(30))]


def columns(windows: NonMergingWindows, expired_end: int, name: str) -> Iterator[tuple[str, Column]]:
    """The marks of a list are shown with the bounds of the first and the last, as some have thousands."""
    yield f"assigned_{name}", windows.assigned(AT)
    yield f"late_{name}", windows.late(AT, expired_end)
    open_window_ids = windows.window_ids_of_slice(windows.slice_of(AT), expired_end)
    for what, window_ids in (("open", open_window_ids), ("expired", windows.late_window_ids(AT, expired_end))):
        yield f"{what}_{name}", call("size", window_ids)
        for place, index in (("first", 1), ("last", -1)):
            window_id = call("try_element_at", window_ids, index)
            yield f"{place}_{what}_{name}", array(*windows.bounds(window_id))


def check(row: dict, found: list[Window], expired_end: int, name: str) -> None:
    parts = {"open": [w for w in found if w.end > expired_end], "expired": [w for w in found if w.end <= expired_end]}
    assert row[f"assigned_{name}"] == len(found)
    assert row[f"late_{name}"] == len(parts["expired"])
    for what, windows in parts.items():
        assert row[f"{what}_{name}"] == len(windows)
        if windows:
            assert row[f"first_{what}_{name}"] == list(windows[0])
            assert row[f"last_{what}_{name}"] == list(windows[-1])


@pytest.mark.parametrize("window", WINDOWS, ids=repr)
def test_windows_are_those_of_the_model(spark, window: WindowFunction) -> None:
    frame = small_session(spark).createDataFrame([(at,) for at in instants()], "t bigint")
    made, wanted = compile_windows(window), {"t": AT}
    for index, expired_end in enumerate(ENDS):
        wanted.update(columns(made, expired_end, str(index)))
    for row in select(frame, wanted).collect():
        found = assign(window, row["t"])
        for index, expired_end in enumerate(ENDS):
            check(row.asDict(), found, expired_end, str(index))
