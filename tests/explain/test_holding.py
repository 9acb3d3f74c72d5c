"""What holds a watermark back, in words, over the clocks of one input and of several."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from windrow.drivers.inspect.waiting.holding import Holding
from windrow.engine.clocks.clock import InputClock, PartitionClock, StageClock
from windrow.spec.pipelines.pipeline import Pipeline
from windrow.spec.times import MINUTE, SECOND
from windrow.store.journal.control import Control
from windrow.store.upstream.offsets import Offsets

NOW = 60 * MINUTE
RULES = [{"expect": "column_values_to_not_be_null", "column": "k"}]


def pipeline(root: Path | None = None, *mask: str) -> Pipeline:
    """Two sources by partition, a stage of one of them, one of both, and one behind a stage."""
    quality: dict[str, Any] = {}
    if root is not None:
        (root / "rows.yaml").write_text(yaml.safe_dump(RULES))
        quality = {"quality": {"suite": str(root / "rows.yaml"), "mask": list(mask)}}
    source = {
        "files": {"path": "/data"}, "schema": "k string, at bigint", "partition": "k",
        "event_time": {"column": "at", "format": "unix_us"}, **quality,
        "watermark": {"bounded_delay": "10s", "idle_timeout": "5m"},
    }  # fmt: skip
    one = {"window": {"fixed": {"size": "1m"}}, "aggregates": {"n": {"count": "*"}}}
    late = {"allowed_lateness": "1m", "accumulation": "retracting"}
    inputs = {name: {"from": name, "keys": ["k"], "aggregates": {name: {"count": "*"}}} for name in ("clicks", "views")}
    stages = [
        {"name": "sums", "from": "clicks", **one, **late},
        {"name": "both", "window": one["window"], "inputs": inputs},
        {"name": "behind", "from": "sums", "window": one["window"], **late, "aggregates": {"n": {"sum": "n"}}},
    ]
    sources = [{"name": name, **source} for name in ("clicks", "views")]
    return Pipeline.from_mapping({"pipeline": "p", "lake": "/lake", "sources": sources, "stages": stages})


def back(stage: str, made: Pipeline | None = None, **inputs: InputClock) -> str:
    made = made or pipeline()
    named = {name if stage == "both" else "": one for name, one in inputs.items()}
    control = Control(1, "stream", Offsets({}), True, 0, StageClock(now=NOW, inputs=named))
    return Holding(made, made.stage(stage)).back(control)


def clock(began: int = NOW, watermark: int = 0, **seconds: tuple[int, int]) -> InputClock:
    """Of partitions by name: the second of the newest event, and how many seconds ago the last came."""
    parts = {name: PartitionClock(at * SECOND, NOW - ago * SECOND) for name, (at, ago) in seconds.items()}
    return InputClock(StageClock(NOW, watermark, partitions=parts), began)


IDLE = 301


@pytest.mark.parametrize(
    ("one", "words"),
    [
        (clock(a=(60, 0)), "the newest event that source clicks has sent is of 1970-01-01 00:01, less 10s"),
        (clock(a=(60, 0), b=(30, 0)), "held back by partition b, whose newest event is of 1970-01-01 00:00:30"),
        (clock(a=(60, 0), b=(30, IDLE)), "held back by partition a, whose newest event is of 1970-01-01 00:01"),
        (clock(a=(60, IDLE), b=(30, IDLE)), "all partitions are idle"),
        (clock(), "source clicks has sent nothing yet"),
        (
            clock(**{name: (9, 0) for name in "abcde"}),
            "held back by partition a, b, c and 2 others, whose newest event is of 1970-01-01 00:00:09",
        ),
    ],
)
def test_one_source(one: InputClock, words: str) -> None:
    assert back("sums", clicks=one) == words


def test_a_stage_behind_a_stage() -> None:
    assert back("behind", sums=clock(watermark=5)) == "it comes with the panes of stage sums"
    assert back("behind") == "", "before the first tick nothing can be said"


@pytest.mark.parametrize(
    ("clicks", "views", "words"),
    [
        (clock(a=(60, 0)), clock(a=(50, 0)), "the newest event that source views has sent is of 1970-01-01 00:00:50"),
        (clock(a=(60, 0), b=(40, 0)), clock(a=(50, 0)), "held back by partition b of source clicks"),
        (clock(a=(60, 0)), clock(), "source views has sent nothing yet"),
        (clock(a=(60, 0)), clock(began=NOW - 5 * MINUTE), "the newest event that source clicks has sent"),
        (clock(a=(60, 0)), clock(a=(10, IDLE), b=(20, IDLE)), "the newest event that source clicks has sent"),
        (clock(a=(60, IDLE), b=(60, IDLE)), clock(a=(10, 0)), "the newest event that source views has sent"),
        (clock(60, 60, a=(60, IDLE)), clock(60, 70, a=(9, IDLE)), "all partitions of source clicks are idle"),
    ],
)  # fmt: skip
def test_of_several_inputs_the_one_that_is_behind_and_not_idle(
    clicks: InputClock, views: InputClock, words: str
) -> None:
    assert back("both", clicks=clicks, views=views).startswith(words)


def test_the_name_of_a_partition_that_nobody_is_shown(tmp_path: Path) -> None:
    two = clock(secret=(30, 0), other=(60, 0))
    open_to_all, masked = pipeline(tmp_path, "at"), pipeline(tmp_path, "k")
    assert back("sums", open_to_all, clicks=two).startswith("held back by partition secret, ")
    assert back("sums", masked, clicks=two) == "held back by a partition, whose newest event is of 1970-01-01 00:00:30"
