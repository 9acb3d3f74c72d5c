"""`windrow.panes`: every row of a frame is in a result, counted or a dead letter, for one stage, a join, a chain."""

import json
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

import windrow
from windrow import SpecError, Stage, TimeColumn

AT = TimeColumn("at", format="unix_s")
DAYS = windrow.FixedWindows(size="1d")


def frame_of(spark: SparkSession, columns: str, *rows: tuple[Any, ...]) -> DataFrame:
    return spark.createDataFrame(list(rows), columns)


def rows_of(frame: DataFrame, *names: str) -> list[tuple[Any, ...]]:
    return sorted((tuple(row[name] for name in names) for row in frame.collect()), key=repr)


def test_every_row_is_somewhere(spark) -> None:
    stage = Stage(
        select={"share": "v / d"},
        where="v < 100",
        keys=["k"],
        window=windrow.Sessions(gap="gap", max_gap="1h"),
        aggregates={"total": windrow.Sum("share")},
    )
    frame = frame_of(
        spark, "k string, v long, d long, gap long, at string",
        ("a", 4, 2, 10, "1"), ("a", 6, 2, 10, "11.5"), ("a", 8, 2, 10, "6"),
        ("a", 1, 0, 10, "1"), ("a", 1, 1, -5, "1"), ("a", 1, 1, 10, "noon"), ("a", 1, 1, 10, None),
        ("a", 100, 1, 0, "1"),
    )  # fmt: skip
    frame = frame.selectExpr("k", "v", "d", "gap", "try_cast(at as double) AS at")
    spark.sparkContext.setJobGroup("defined", "nothing runs before a frame does")
    found = windrow.panes(stage, frame, AT)
    results, dead = found.results, found.dead_letters
    assert not spark.sparkContext.statusTracker().getJobIdsForGroup("defined")
    spark.sparkContext.setJobGroup("", "")
    assert results.columns == ["k", "window_start", "window_end", "total"]
    assert rows_of(results.selectExpr("*", "unix_millis(window_end) AS until"), "k", "until", "total") == [
        ("a", 21500, 9)
    ]
    assert rows_of(dead, "reason", "window_start", "source") == [
        ("bad_expression", None, "frame"), ("bad_gap", None, "frame"),
        ("bad_timestamp", None, "frame"), ("bad_timestamp", None, "frame"),
    ]  # fmt: skip
    by_reason = {row.reason: row for row in dead.collect()}
    assert json.loads(by_reason["bad_gap"].element) == {"k": "a", "v": 1, "d": 1, "gap": -5, "at": 1.0, "share": 1.0}
    assert by_reason["bad_timestamp"].rule == "at is an event time (unix_s)"
    assert by_reason["bad_timestamp"].event_time is None and by_reason["bad_gap"].event_time is not None
    assert found.counts() == {
        "read": 8, "dead_rows": 2, "bad_expression": 2, "bad_gap": 1, "filtered": 1, "kept": 3, "unassigned": 0,
        "assigned": 3,
    }  # fmt: skip


def test_rows_in_a_gap_are_counted(spark) -> None:
    stage = Stage(window=windrow.SlidingWindows(size="1s", period="10s"), aggregates={"n": windrow.Count()})
    found = windrow.panes(stage, frame_of(spark, "at long", (0,), (5,), (10,)), AT)
    assert rows_of(found.results, "n") == [(1,), (1,)] and found.dead_letters.isEmpty()
    assert (found.counts()["kept"], found.counts()["unassigned"]) == (3, 1)


JOIN = Stage(
    name="orders",  # which is also the name of an input
    join="full",
    inputs={
        "orders": windrow.Input(keys=["id"], columns=["item"]),
        "payments": windrow.Input(keys=["id"], columns={"amount": "paid div part"}),
    },
    window=DAYS,
    aggregates={},
)


def inputs_of(spark: SparkSession) -> dict[str, DataFrame]:
    orders = frame_of(
        spark, "id long, item string, at long", (1, "tea", 1), (2, "rye", 2), (2, "rye", 3), (5, "", None)
    )
    payments = frame_of(spark, "id long, paid long, part long", (2, 10, 2), (7, 1, 0))
    return {"orders": orders, "payments": payments.selectExpr("*", "timestamp_seconds(id) AS paid_at")}


def test_a_join(spark) -> None:
    times = {"orders": AT, "payments": "paid_at"}
    found = windrow.panes(JOIN, inputs_of(spark), times)
    assert found.name == "orders"
    assert found.results.columns == ["id", "window_start", "window_end", "item", "amount", "row"]
    assert rows_of(found.results, "id", "item", "amount", "row") == [
        (1, "tea", None, 0), (2, "rye", 5, 0), (2, "rye", 5, 1)
    ]  # fmt: skip
    assert rows_of(found.dead_letters, "source", "reason") == [
        ("orders", "bad_timestamp"), ("payments", "bad_expression")
    ]  # fmt: skip
    assert (found.counts()["read"], found.counts()["dead_rows"], found.counts()["bad_expression"]) == (6, 1, 1)


HOURLY = Stage(
    name="hourly", keys=["k"], window=windrow.FixedWindows(size="1h"),
    trigger=windrow.AfterWatermark(late=windrow.AfterCount(1)),
    accumulation="retracting", allowed_lateness="1h", aggregates={"n": windrow.Count(), "most": windrow.Max("v")},
    having="n > 1",
)  # fmt: skip
DAILY = Stage(
    name="daily", select={"per": "most / (n - 3)", "shown": "concat(timing, pane_index)"}, keys=["k"], window=DAYS,
    allowed_lateness="1h",
    aggregates={"hours": windrow.Count(), "total": windrow.Sum("per"), "how": windrow.Max("shown")},
)  # fmt: skip


def events(spark: SparkSession) -> DataFrame:
    hours = {0: 2, 1: 1, 2: 3, 3: 4}
    rows = [("a", 3600 * hour + number, 8) for hour, n in hours.items() for number in range(n)]
    return frame_of(spark, "k string, at long, v long", *rows, ("a", None, 8))


def test_a_chain(spark) -> None:
    found = windrow.panes([HOURLY, DAILY], events(spark), AT)
    assert [*found] == ["hourly", "daily"]
    assert rows_of(found["hourly"].results, "n", "most") == [(2, 8), (3, 8), (4, 8)]
    assert rows_of(found["hourly"].dead_letters, "reason", "source") == [("bad_timestamp", "frame")]
    daily = found["daily"]
    assert rows_of(daily.results, "k", "hours", "total", "how") == [("a", 2, 0.0, "on_time0")]
    (dead,) = daily.dead_letters.collect()
    assert (dead.reason, dead.source) == ("bad_expression", "hourly") and json.loads(dead.element)["n"] == 3
    assert (daily.counts()["read"], daily.counts()["bad_expression"]) == (3, 1)


def test_a_pipeline_with_a_stage_over_a_source_and_a_stage(spark) -> None:
    source = windrow.Source(
        "events", files=windrow.Files("data"), schema="k string, at long, v long", event_time=AT,
        watermark=windrow.Watermark(bounded_delay=0),
    )  # fmt: skip
    hours = windrow.Input("hourly", keys=["k"], aggregates={"hours": windrow.Count()})
    rows = windrow.Input("events", keys=["k"], aggregates={"events": windrow.Count(), "least": windrow.Min("v")})
    both = Stage(name="both", inputs={"hours": hours, "rows": rows}, window=DAYS, allowed_lateness="1h", aggregates={})
    made = windrow.Pipeline("p", lake="lake", sources=[source], stages=[HOURLY, both])
    found = windrow.panes(made, events(spark))
    assert rows_of(found["both"].results, "k", "hours", "events", "least") == [("a", 3, 10, 8)]
    assert rows_of(found["both"].dead_letters, "reason", "source") == [("bad_timestamp", "events")]
    with pytest.raises(SpecError, match=r"^frames\.events must have the column v bigint of the source; got \"string\""):
        windrow.panes(made, events(spark).selectExpr("k", "at", "string(v) AS v"))
    with pytest.raises(SpecError, match=r"^frames must be one for each source; got \"hourly\""):
        windrow.panes(made, {"hourly": events(spark)})
    with pytest.raises(SpecError, match=r"^weight is not for a pipeline"):
        windrow.panes(made, events(spark), weight="v")


def test_what_does_not_fit_is_refused(spark) -> None:
    frame, frames = events(spark), inputs_of(spark)
    with pytest.raises(SpecError, match=r"^frames\.frame\.event_time\.column is not a column here; got \"event_time\""):
        windrow.panes(HOURLY, frame)
    with pytest.raises(SpecError, match=r"^frames must be one for each input, by its name; got \"one frame\""):
        windrow.panes(JOIN, frame)
    with pytest.raises(SpecError, match=r"^event_time\.order is not the name of a frame"):
        windrow.panes(JOIN, frames, {"order": AT})
    with pytest.raises(SpecError, match=r"^frames must be a mapping where stages read several sources"):
        windrow.panes(
            [HOURLY, Stage(name="b", from_="other", window=DAYS, aggregates={"n": windrow.Count()})], frame, AT
        )
    with pytest.raises(SpecError, match=r"^frames\.other is read by no stage"):
        windrow.panes(
            [Stage(from_="a", window=DAYS, aggregates={"n": windrow.Count()})], {"a": frame, "other": frame}, AT
        )
    with pytest.raises(SpecError, match=r"^stages\[1\]\.allowed_lateness must be at least"):
        windrow.panes([HOURLY, Stage(name="b", window=DAYS, aggregates={"n": windrow.Sum("n")})], frame, AT)
