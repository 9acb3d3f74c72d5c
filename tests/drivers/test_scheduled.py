"""Scheduled batches over files that appear by arrival: they, a stream, and both in turns end with the same tables.

Rows are up to three hours on their way, and the watermark allows for that, so none is late. A file holds the rows that
arrived in one hour. Every hour a lake takes the new file and is run once: as a stream, or as a batch over the windows
of the last hours.
"""

from __future__ import annotations

import json
import os
import random
from collections import Counter
from collections.abc import Callable, Collection
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from windrow.drivers.inspect.status.status import status
from windrow.drivers.pipeline.pipeline import PipelineWork
from windrow.drivers.recompute.backfill import Backfill, backfill
from windrow.drivers.recompute.reconcile import reconcile
from windrow.drivers.recompute.restate import restate
from windrow.drivers.stream.stream import run
from windrow.spec.errors import WindowsWait
from windrow.spec.pipelines.pipeline import Pipeline
from windrow.spec.times import HOUR, MINUTE, format_time, parse_time

START = parse_time("2024-01-01T00:00:00Z")
HOURS = 8
ROWS = 12
DELAY = 3
ALL = {"num": {"count": "*"}, "total": {"sum": "v"}}

STAGES: list[dict[str, Any]] = [
    {"name": "hourly", "keys": ["k"], "window": {"fixed": {"size": "1h"}}},
    {"name": "rolling", "keys": ["k"], "window": {"sliding": {"size": "2h", "period": "1h"}}},
    {"name": "sessions", "keys": ["k"], "window": {"sessions": {"gap": "20m"}}},
    {"name": "near", "keys": ["k"], "window": {"record": {"difference": "10m"}}},
    {
        "name": "corrected", "keys": ["k"], "window": {"cumulative": {"size": "2h", "step": "1h"}},
        "trigger": {"after_watermark": {"early": {"after_count": 3}, "late": {"after_count": 1}}},
        "accumulation": "retracting", "allowed_lateness": "1h",
    },
    {
        "name": "behind", "from": "hourly", "window": {"fixed": {"size": "2h"}}, "accumulation": "retracting",
        "aggregates": {"keys": {"count": "*"}, "num": {"sum": "num"}},
    },
]  # fmt: skip

SUMS = {"num": {"sum": "num"}, "total": {"sum": "total"}}
CHAINS: list[dict[str, Any]] = [
    {"name": "totals", "from": "rolling", "keys": ["k"], "window": {"inherited": {}}, "aggregates": SUMS},
    {"name": "pairs", "from": "rolling", "keys": ["k"], "window": {"fixed": {"size": "2h"}}, "aggregates": SUMS},
    {"name": "ends", "from": "sessions", "keys": ["k"], "window": {"fixed": {"size": "2h"}}, "aggregates": SUMS},
    {"name": "same", "from": "sessions", "keys": ["k"], "window": {"inherited": {}}, "aggregates": SUMS},
]
CHAINED = ("rolling", "sessions", *[stage["name"] for stage in CHAINS])


def rows_of(hour: int) -> list[dict[str, Any]]:
    """What arrived in an hour: rows of the three hours before it, with one whose expression fails."""
    chance = random.Random(hour)
    rows = []
    for number in range(ROWS):
        arrival = START + hour * HOUR + number * HOUR // ROWS
        at = arrival - chance.randrange(DELAY * 60) * MINUTE
        rows.append({"k": chance.choice("ab"), "v": chance.randint(1, 9), "at": at, "arrived": arrival})
    rows[0]["v"] = 0
    return rows


def write_hour(root: Path, hour: int) -> None:
    folder = root / "data"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{hour:03}.json"
    rows = [{**row, "at": format_time(row["at"]), "arrived": format_time(row["arrived"])} for row in rows_of(hour)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    os.utime(path, (1_700_000_000 + hour, 1_700_000_000 + hour))


FEW = ("hourly", "sessions", "behind")


def pipeline(root: Path, names: Collection[str] = ()) -> Pipeline:
    """The stages of these names, or all but those of chains."""
    chosen = [stage for stage in STAGES if not names] or [one for one in [*STAGES, *CHAINS] if one["name"] in names]
    of_rows = {"from": "rows", "aggregates": ALL, "where": "10 / v > 0"}
    stages = [stage if "from" in stage else {**of_rows, **stage} for stage in chosen]
    source = {
        "name": "rows", "files": {"path": str(root / "data"), "format": "json", "max_files_per_batch": 1},
        "schema": "k string, v int, at string, arrived string",
        "event_time": {"column": "at", "format": "iso8601"}, "arrival_time": {"column": "arrived", "format": "iso8601"},
        "watermark": {"bounded_delay": f"{DELAY}h"},
    }  # fmt: skip
    return Pipeline.from_mapping(
        {"pipeline": "hours", "lake": str(root / "lake"), "sources": [source], "stages": stages}
    )


def land(made: Pipeline, spark) -> None:
    for landing in PipelineWork.open(made, spark).landings:
        landing.run()


def batch_of_last(made: Pipeline, spark, hour: int, hours: int) -> None:
    """A run of the schedule: the windows that start in the last hours."""
    land(made, spark)
    backfill(made, spark, START + (hour + 1 - hours) * HOUR, START + (hour + 1) * HOUR)


def table(spark, made: Pipeline, stage: str, name: str = "current"):
    return spark.read.format("delta").load(f"{made.lake}/{stage}/{name}")


def final(spark, made: Pipeline, stage: str) -> dict[tuple[Any, ...], tuple[Any, ...]]:
    """The windows that have expired, with their values: where there is no stream, those that a batch has published."""
    keys = [] if stage == "behind" else ["k"]
    values = ["keys", "num"] if stage == "behind" else ["num", "total"]
    (found,) = [one for one in status(made, spark)[1] if one.stage == stage]
    streams = not table(spark, made, stage, "ticks").where("kind = 'stream'").isEmpty()
    until = (found.watermark or 0) - made.stage(stage).allowed_lateness
    expired = f"unix_micros(window_end) <= {until}" if streams else "is_last"
    rows = table(spark, made, stage).where(expired).select(*keys, "window_start", "window_end", *values).collect()
    cut = len(keys) + 2
    return {tuple(row)[:cut]: tuple(row)[cut:] for row in rows}


def letters(spark, made: Pipeline, stage: str) -> Counter[tuple[Any, ...]]:
    rows = table(spark, made, stage, "dead_letters").select("reason", "element", "window_start").collect()
    return Counter(map(tuple, rows))


def check_nothing_is_last_too_soon(spark, made: Pipeline) -> None:
    for stage in made.stages:
        waits = f"interval {stage.allowed_lateness} microsecond"
        soon = f"is_last AND watermark < window_end + {waits}"
        panes = table(spark, made, stage.name, "panes")
        assert panes.where(soon).isEmpty(), (stage.name, panes.where(soon).collect()[:3])


def check_adds_up(spark, made: Pipeline) -> None:
    _, stages = status(made, spark)
    assert all(stage.adds_up for stage in stages), stages


@pytest.fixture(scope="module")
def streamed(spark, tmp_path_factory: pytest.TempPathFactory) -> Callable[[Collection[str], int], Pipeline]:
    """The reference: a stream that had always been there."""

    @cache
    def after(names: Collection[str], hours: int) -> Pipeline:
        root = tmp_path_factory.mktemp("streamed")
        for hour in range(hours):
            write_hour(root, hour)
        made = pipeline(root, names)
        run(made, spark, once=True)
        return made

    return after


Turn = Callable[[int], str]
TURNS: dict[str, Turn] = {
    "batches": lambda hour: "batch",
    "a stream for the odd hours": lambda hour: "stream" if hour % 2 else "batch",
    "batches before a stream": lambda hour: "batch" if hour < HOURS - 2 else "stream",
}
SHORT = ("a stream for the odd hours", FEW, 6)
LONG = [pytest.param(turns, (), HOURS, marks=pytest.mark.long) for turns in TURNS]


@pytest.mark.parametrize(("turns", "names", "hours"), [SHORT, *LONG])
def test_what_has_expired_in_all_of_them_is_equal(  # type: ignore[no-untyped-def]
    spark, tmp_path: Path, streamed, turns: str, names: Collection[str], hours: int
) -> None:
    made, stream = pipeline(tmp_path, names), streamed(names, hours)
    for hour in range(hours):
        write_hour(tmp_path, hour)
        if TURNS[turns](hour) == "stream":
            run(made, spark, once=True)
        else:
            batch_of_last(made, spark, hour, 2 * DELAY)
        check_adds_up(spark, made)
    check_nothing_is_last_too_soon(spark, made)
    for stage in made.stages:
        ours, theirs = final(spark, made, stage.name), final(spark, stream, stage.name)
        assert ours.items() <= theirs.items(), stage.name
        assert ours == theirs if "stream" in turns else len(ours) > len(theirs) / 2, stage.name
        assert letters(spark, made, stage.name) == letters(spark, stream, stage.name), stage.name
    assert all(found.equal and found.late_rows == 0 for found in reconcile(made, spark))
    if turns == "batches":
        backfill(made, spark, START - 12 * HOUR, START + 24 * HOUR, whole=True)
    else:
        run(made, spark, drain=True)
    rows = sum(1 for hour in range(hours) for row in rows_of(hour) if row["v"])
    assert sum(num for num, _ in final(spark, made, "hourly").values()) == rows
    assert sum(num for _, num in final(spark, made, "behind").values()) == rows
    assert all(found.equal and found.windows for found in reconcile(made, spark))
    check_adds_up(spark, made)


EVERY = 3


def publishes(made: Pipeline, spark, first: int, now: int | None = None) -> bool:  # type: ignore[no-untyped-def]
    """A run over an interval that waits for its windows: whether it has published."""
    work = PipelineWork.open(made, spark, **({} if now is None else {"clock": lambda: now}))
    name = f"from {first}"
    steps = Backfill(work, name, START + first * HOUR, START + (first + EVERY) * HOUR, waits=True)
    try:
        steps.land()
        steps.compute()
        steps.publish()
    except WindowsWait as waits:
        print(first, waits)  # shown where the test fails
        return False
    return True


@pytest.mark.long
@pytest.mark.parametrize("names", [FEW, (), CHAINED])
def test_intervals_that_do_not_overlap_leave_no_window_out(  # type: ignore[no-untyped-def]
    spark, tmp_path: Path, streamed, names: Collection[str]
) -> None:
    """Windows of a stage behind others cross their bounds; those that begin before the first one wait for ever."""
    made, hours = pipeline(tmp_path, names), HOURS + 3
    stream = streamed(names, hours)
    first, tries = 0, 0
    for hour in range(hours):
        write_hour(tmp_path, hour)
        if hour >= first + EVERY:
            tries += 1
            first += EVERY * publishes(made, spark, first)
    assert 2 <= first // EVERY < tries
    check_nothing_is_last_too_soon(spark, made)
    check_adds_up(spark, made)
    for stage in made.stages:
        ours, theirs = final(spark, made, stage.name), final(spark, stream, stage.name)
        assert ours.items() <= theirs.items(), stage.name
        since = 2 if stage.name == "pairs" else 0  # it reads windows that begin before the first interval
        begins, over = datetime(2024, 1, 1, since), datetime(2024, 1, 1, first)
        ends = [window for window in theirs if window[-2] >= begins and window[-1] <= over]
        assert ours.keys() >= set(ends) and ends, stage.name
    stages = [one for one in PipelineWork.open(made, spark).stages if one.runner.upstream.names == ("rows",)]
    assert all(len(one.runner.published) == 1 for one in stages), "neighbours are one interval"
    assert all(found.equal for found in reconcile(made, spark))


@pytest.mark.long
def test_early_panes_are_replaced_and_a_stream_retracts_them(spark, tmp_path: Path, streamed) -> None:  # type: ignore[no-untyped-def]
    made = pipeline(tmp_path)
    for hour in range(HOURS - 2):
        write_hour(tmp_path, hour)
        land(made, spark)
        results = backfill(made, spark, START - 12 * HOUR, START + 24 * HOUR, early=True)
        waits = {result.stage: result.waiting for result in results if result.waiting is not None}
        shown_early = {stage: waiting.early for stage, waiting in waits.items() if waiting.windows}
        assert not shown_early.pop("hourly"), "who reads it could not take early panes back"
        assert all(shown_early.values()), shown_early
    shown = table(spark, made, "corrected").select("timing", "is_last").distinct().collect()
    assert {tuple(row) for row in shown} >= {("early", False), ("on_time", True)}
    changes = {row["change"] for row in table(spark, made, "corrected", "panes").select("change").distinct().collect()}
    assert changes >= {"insert", "update_preimage", "update_postimage"}
    for hour in range(HOURS - 2, HOURS):
        write_hour(tmp_path, hour)
    run(made, spark, once=True)
    check_nothing_is_last_too_soon(spark, made)
    for stage in made.stages:
        assert final(spark, made, stage.name) == final(spark, streamed((), HOURS), stage.name), stage.name
    for stage in ("corrected", "behind"):
        keys = ["k", "window_start", "window_end"] if stage == "corrected" else ["window_start", "window_end"]
        net = table(spark, made, stage, "panes").groupBy(*keys).agg({"weight": "sum"})
        assert net.where("`sum(weight)` NOT IN (0, 1)").isEmpty(), stage
    assert all(found.equal for found in reconcile(made, spark))


@pytest.mark.long
def test_a_row_behind_its_bound_is_late_for_what_a_batch_has_published(spark, tmp_path: Path) -> None:
    """Found by `restate`, named by `reconcile`, counted by `status`; a second restatement finds nothing."""
    made = pipeline(tmp_path)
    for hour in range(HOURS):
        write_hour(tmp_path, hour)
    land(made, spark)
    backfill(made, spark, START - 12 * HOUR, START + 24 * HOUR)
    late = {"k": "a", "v": 5, "at": format_time(START + MINUTE), "arrived": format_time(START + HOURS * HOUR)}
    (tmp_path / "data" / "late.json").write_text(json.dumps(late) + "\n")
    os.utime(tmp_path / "data" / "late.json", (1_700_001_000, 1_700_001_000))
    land(made, spark)
    backfill(made, spark, START + HOUR, START + 24 * HOUR)
    _, stages = status(made, spark)
    assert [stage.late for stage in stages[:4]] == [1, 2, 1, 1] and all(stage.adds_up for stage in stages)
    found = {one.stage: one for one in reconcile(made, spark)}
    assert all(one.equal for one in found.values()) and found["hourly"].late_rows == 1
    before = sum(num for num, _ in final(spark, made, "hourly").values())
    results = {result.stage: result for result in restate(made, spark)}
    assert results["hourly"].rows == 1 and results["behind"].backfilled is not None
    assert sum(num for num, _ in final(spark, made, "hourly").values()) == before + 1
    assert all(one.equal and one.late_rows == 0 for one in reconcile(made, spark))
    assert all(result.rows == 0 for result in restate(made, spark))
