"""What a run would find that it waits for is seen without Spark as the run itself finds it, and only where it would."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from windrow.drivers.inspect.waiting.arrivals import Arrivals
from windrow.drivers.inspect.waiting.foreseen import foreseen
from windrow.drivers.inspect.waiting.windows import wait_for
from windrow.drivers.pipeline.pipeline import PipelineWork
from windrow.drivers.recompute.backfill import Backfill
from windrow.drivers.recompute.scope.request import Mode
from windrow.spec.errors import WindowsWait
from windrow.spec.pipelines.pipeline import Pipeline
from windrow.spec.times import HOUR, parse_time
from windrow.store.reading.arrow import ArrowTables

START = parse_time("2024-01-01T00:00:00Z")
SPANS = [(-6, -3), (0, 1), (0, 12), (1, 2), (1, 3), (2, 3), (2, 4), (4, 6), (20, 30)]
"""Hours from the start, before and behind what has expired."""
WINDOWS: Mapping[str, Any] = {
    "fixed": {"fixed": {"size": "1h"}},
    "hopping": {"sliding": {"size": "3h", "period": "30m"}},
    "grows": {"cumulative": {"size": "2h", "step": "1h"}},
    "days": {"calendar": {"unit": "day"}},
    "visits": {"sessions": {"gap": "10m"}},
}


def pipeline(root: Path, *windows: str, watermark: Mapping[str, Any] | None = None, **more: Any) -> Pipeline:
    """Clicks in windows of each kind that is named."""
    source = {
        "name": "clicks", "files": {"path": str(root / "data"), "format": "json"}, "schema": "at string, k string",
        "event_time": {"column": "at", "format": "iso8601"}, "partition": "k",
        "watermark": {"bounded_delay": "10m", **(watermark or {})},
    }  # fmt: skip
    stages = [
        {
            "name": name, "from": "clicks", "window": WINDOWS[name],
            "aggregates": {"n": {"count": "*"}}, "accumulation": "accumulating", **more,
        }
        for name in windows
    ]  # fmt: skip
    return Pipeline.from_mapping({"pipeline": "p", "lake": str(root / "lake"), "sources": [source], "stages": stages})


def arrive(root: Path, name: str, *times: str) -> None:
    """A file with a click at each of these times, for two partitions; the second is ten minutes behind."""
    (root / "data").mkdir(parents=True, exist_ok=True)
    rows = [{"at": f"2024-01-01T{at}:00Z", "k": "a"} for at in times]
    rows += [{"at": f"2024-01-01T{at[:2]}:00:00Z", "k": "b"} for at in times]
    (root / "data" / f"{name}.json").write_text("".join(f"{json.dumps(row)}\n" for row in rows))


def run(made: Pipeline, spark: SparkSession, name: str, hours: tuple[int, int], waits: bool = True) -> Backfill:
    first, end = (START + hour * HOUR for hour in hours)
    return Backfill(PipelineWork.open(made, spark), name, first, end, waits=waits)


def found(made: Pipeline, spark: SparkSession, hours: tuple[int, int]) -> WindowsWait | None:
    """What the run itself finds."""
    try:
        run(made, spark, f"run-{hours}", hours).land()
    except WindowsWait as error:
        return error
    return None


def seen(made: Pipeline, hours: tuple[int, int]) -> WindowsWait | None:
    """What is seen without Spark."""
    sources = [Arrivals.of(source).looked_at() for source in made.sources]
    first, end = (START + hour * HOUR for hour in hours)
    waiting = foreseen(ArrowTables(), made, (first, end), sources)
    return wait_for(waiting) if waiting else None


def test_a_run_is_seen_to_wait_as_it_finds_itself(spark: SparkSession, tmp_path: Path) -> None:
    arrive(tmp_path, "one", "00:10", "02:10")
    made = pipeline(tmp_path, "fixed", "hopping", "grows", "days", allowed_lateness="30m")
    assert seen(made, (0, 24)) is None, "nothing has landed"
    assert found(made, spark, (0, 24)) is not None
    waiting = 0
    for hours in SPANS:
        own, foreseen_ = found(made, spark, hours), seen(made, hours)
        assert str(own) == str(foreseen_) and (own is None) == (foreseen_ is None), hours
        assert own is None or foreseen_ is None or own.until == foreseen_.until
        waiting += own is not None
    assert 0 < waiting < len(SPANS)


def test_only_what_is_certain_is_seen(spark: SparkSession, tmp_path: Path) -> None:
    arrive(tmp_path, "one", "00:10", "02:10")
    made = pipeline(tmp_path, "fixed", "visits")
    own = found(made, spark, (2, 4))
    assert own is not None and set(own.until) == {"fixed", "visits"}
    waits = seen(made, (2, 4))
    assert waits is not None and waits.until == {"fixed": START + 4 * HOUR}, "sessions are left to the run"
    assert "partition b of source clicks" in str(waits)

    arrive(tmp_path, "two", "03:30")
    assert seen(made, (2, 4)) is None, "a file has come"
    run(made, spark, "other", (2, 4), waits=False).land()
    assert seen(made, (2, 4)) is None, "no run that waits has landed it"
    killed = run(made, spark, "killed", (2, 4))
    killed._land(killed._begun())
    assert seen(made, (2, 4)) is None, "it was killed before a stage has read what landed"
    assert found(made, spark, (2, 4)) is not None
    assert seen(made, (2, 4)) is not None

    other = replace(made, stages=(made.stages[0], pipeline(tmp_path, "visits", allowed_lateness="1h").stages[0]))
    assert seen(other, (2, 4)) is None, "a run is refused where another stage cannot go on"
    more = pipeline(tmp_path, "fixed", "visits", "days")
    assert seen(more, (2, 4)) is None, "a stage has read nothing yet"
    later = pipeline(tmp_path, "fixed", "visits", allowed_lateness="1h")
    assert seen(later, (2, 4)) is None, "the stage means something else than when it read"
    sooner = pipeline(tmp_path, "fixed", watermark={"bounded_delay": "1m"})
    assert seen(sooner, (2, 4)) is None, "so does its source"
    by_clock = pipeline(tmp_path, "fixed", "visits", watermark={"idle_timeout": "5m"})
    assert seen(by_clock, (2, 4)) is None, "time alone may move the watermark"


def test_a_run_over_windows_that_were_published_waits_for_none(spark: SparkSession, tmp_path: Path) -> None:
    arrive(tmp_path, "one", "00:10", "02:10")
    made = pipeline(tmp_path, "fixed")
    assert found(made, spark, (2, 4)) is not None and seen(made, (2, 4)) is not None
    replace(run(made, spark, "whole", (2, 4), waits=False), mode=Mode.WHOLE).staged()
    assert seen(made, (2, 4)) is None
    assert found(made, spark, (2, 4)) is None
    assert seen(made, (4, 6)) is not None
    run(made, spark, "before", (0, 1), waits=False).staged()
    replace(run(made, spark, "between", (1, 2), waits=False), mode=Mode.WHOLE).staged()
    assert found(made, spark, (0, 4)) is None
    assert seen(made, (0, 4)) is None, "what several batches have published is one"


def test_of_a_stage_that_a_stream_has_made_only_a_run_can_tell(spark: SparkSession, tmp_path: Path) -> None:
    import windrow

    arrive(tmp_path, "one", "00:10", "02:10")
    made = pipeline(tmp_path, "fixed")
    windrow.run(made, spark, once=True)
    assert found(made, spark, (2, 4)) is not None
    assert seen(made, (2, 4)) is None
