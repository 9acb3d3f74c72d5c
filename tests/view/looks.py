"""Looks at a pipeline made by hand: a stream at work with all that can wait, and one of which nothing has run."""

from __future__ import annotations

from dataclasses import replace

from windrow.spec.stages.freshness import Freshness
from windrow.spec.times import HOUR, MINUTE, SECOND, parse_time
from windrow.view.freshness import StageFreshness
from windrow.view.metrics import Standing
from windrow.view.status import InputStatus, PartitionStatus, SourceStatus, StageStatus
from windrow.view.watch.look import Look
from windrow.view.watch.ticks import ReadingTick

NOW = parse_time("2024-01-01T12:00:07Z")
WATERMARK = NOW - HOUR - 7 * SECOND
OF_STAGE = "it comes with the panes of stage departures_hourly"
HOLDER = "held back by partition 3, whose newest event is of 2024-01-01 11:10"

SOURCE = SourceStatus(
    "departures", 412, 1_234_654, 412, {"unreadable": 3, "bad_timestamp": 521}, NOW - MINUTE, NOW - 2 * SECOND
)
PARTITIONS = [
    PartitionStatus("3", WATERMARK, False, NOW - 9 * SECOND),
    *(PartitionStatus(str(n), NOW - (10 - n) * MINUTE - 7 * SECOND, False, NOW - n * SECOND) for n in (0, 1, 2, 4, 5)),
    PartitionStatus(
        "a partition with a name that is longer than a phone is wide", NOW - 5 * HOUR, True, NOW - 4 * HOUR
    ),
]
HOURLY = StageStatus(
    stage="departures_hourly", generation=2, tick=96, now=NOW - 4 * SECOND, watermark=WATERMARK, batches_behind=2,
    rows_behind=6_012, projected_to=95, ticks_to_refresh=3, in_raw=1_228_642, read=1_228_642, in_windows=1_200_000,
    filtered=28_000, unassigned=0, dead={"unreadable": 3, "bad_timestamp": 521, "bad_expression": 118},
    assigned=1_200_000, late=842, closed=0, timings={"early": 9_123, "on_time": 41_877, "late": 1_204},
    retracted=10_327, shown=41_901, open_cells=1_312, backfills=1, partitions=PARTITIONS,
    inputs=[InputStatus("departures", 2, 6_012)], held_by=HOLDER, committed_at=NOW - 3 * SECOND,
    freshness=StageFreshness("departures_hourly", Freshness(warn="1h", error="6h"), WATERMARK, HOUR + 7 * SECOND),
)  # fmt: skip
ROLLING = StageStatus(
    stage="rolling", generation=1, tick=95, now=NOW - 14 * SECOND, watermark=WATERMARK - 2 * HOUR, batches_behind=1,
    rows_behind=214, projected_to=95, in_raw=51_990, read=51_990, in_windows=51_990, assigned=207_960,
    timings={"on_time": 20_110}, shown=20_110, open_cells=96, reads_a_stage=True,
    partitions=[PartitionStatus("departures_hourly", WATERMARK, False, NOW - 14 * SECOND)],
    inputs=[InputStatus("departures_hourly", 1, 214, True)], held_by=OF_STAGE,
    committed_at=NOW - 14 * SECOND,
)  # fmt: skip
UNREAD = StageStatus("visits")


def tick(number: int) -> ReadingTick:
    """One each ten seconds, of more and of fewer rows, and the watermark ever further behind."""
    now = NOW - (96 - number) * 10 * SECOND
    return ReadingTick(number, now, 3_000 + 400 * (number % 7), now - HOUR - 30 * number * SECOND)


TICKS = [tick(number) for number in range(36, 96)]


def busy(**fields: object) -> Look:
    """A stream at work."""
    standing = Standing(
        "flights", NOW, [SOURCE], [HOURLY, ROLLING, UNREAD],
        {"departures_hourly": {"planning": 0.31, "commit": 1.24, "projection": 0.4}},
    )  # fmt: skip
    look = Look(
        standing, {"departures_hourly": TICKS, "rolling": TICKS[-3:]}, {"departures_hourly": 842},
        typed="conf/pipelines/flights.yaml",
    )  # fmt: skip
    return replace(look, **fields)  # type: ignore[arg-type]


def untouched() -> Look:
    """Nothing has landed, and nothing has run."""
    return Look(Standing("flights", NOW, [SourceStatus("departures", 0)], [StageStatus("departures_hourly")]))
