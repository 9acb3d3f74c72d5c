"""Calendar windows as columns: Spark's own rules of zones beside the model's, where clocks change and in between."""

import random

import pytest

from tests.model.assign import assign
from tests.model.test_calendar import ZONES
from windrow.compile.sql.columns import Column
from windrow.compile.windows.calendar import _near_changes
from windrow.compile.windows.registry import compile_windows
from windrow.engine.frames import literals, select
from windrow.spec.times import DAY, MINUTE, parse_time
from windrow.spec.windows.aligned import CalendarWindows, Unit, Weekday

FIRST, LAST = parse_time("1880-01-01"), parse_time("2100-01-01")


def instants(zone: str) -> list[int]:
    """Around changes of clocks, to the minute and the microsecond, and anywhere."""
    chance = random.Random(zone)
    near = [day for day in _near_changes(zone) if FIRST < day * DAY < LAST]
    chosen = [chance.choice(near) * DAY + chance.randrange(2 * 24 * 60) * MINUTE for _ in range(300)] if near else []
    return [at + chance.choice([0, -1]) for at in chosen] + [chance.randrange(FIRST, LAST) for _ in range(100)]


@pytest.mark.parametrize("zone", ZONES)
def test_bounds_are_those_of_the_model(spark, zone: str) -> None:
    windows = [CalendarWindows(Unit.DAY, zone=zone), CalendarWindows(Unit.MONTH, 2, zone)]
    windows += [CalendarWindows(Unit.WEEK, 1, zone, Weekday.SUNDAY), CalendarWindows(Unit.YEAR, zone=zone)]
    times = instants(zone)
    frame = spark.createDataFrame([(time,) for time in times], "t bigint")
    columns = {"t": Column("t")}
    for number, window in enumerate(windows):
        made = compile_windows(window)
        columns[f"start_{number}"], columns[f"end_{number}"] = made.bounds(made.slice_of(Column("t")))
    for row in select(frame, columns).collect():
        for number, window in enumerate(windows):
            assert [(row[f"start_{number}"], row[f"end_{number}"])] == assign(window, row["t"]), (window, row["t"])


def test_the_last_year_of_the_calendar_has_an_end(spark) -> None:
    last = parse_time("9999-12-31T23:59:59Z")
    made = compile_windows(CalendarWindows(Unit.YEAR, zone="Europe/Berlin"))
    (row,) = select(
        literals(spark, [{"t": Column(f"{last}L")}]), {"end": made.bounds(made.slice_of(Column("t")))[1]}
    ).collect()
    assert row["end"] == made.greatest_end(last) > last
