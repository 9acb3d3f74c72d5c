"""What grows with the history of a lake: opening it, a tick, `windrow status`. The stream goes on behind it."""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from deltalake import DeltaTable
from pyspark.sql import SparkSession

from bench.scale.history import Span
from bench.scale.landing_log import COMPACTED_EVERY
from bench.scale.simulation import PACE, SOURCE, STAGE, Seconds, Stepping, begin, lengthened, pipeline
from windrow.drivers.inspect.status.status import status

TIMES = 3
"""How often each is measured; of ticks all up to the next landing in which Spark lists all files, but for the first."""


@dataclass(frozen=True)
class Measured:
    """The seconds at one length of the history, in medians; `commits` ever made, `entries` of logs, live `files`.

    `listing` are those of the one landing of ten in which Spark writes down all files that have ever landed.
    """

    ticks: int
    commits: int
    entries: int
    files: int
    opening: float
    status: float
    landing: float
    listing: float
    tick: float
    tables: float
    refresh: float


def measure(spark: SparkSession, root: Path, lengths: Sequence[int], apart: int = PACE) -> Iterator[Measured]:
    """A lake of each length, which is removed afterwards. Errors: AssertionError where the stream goes wrong."""
    begun = root / "begun"
    begin(spark, begun)
    try:
        for ticks in lengths:
            found = point(spark, begun, root / "long", Span(ticks, PACE, apart))
            print(", ".join(f"{name} {_said(value)}" for name, value in asdict(found).items()), file=sys.stderr)
            yield found
            shutil.rmtree(root / "long", ignore_errors=True)
    finally:
        shutil.rmtree(root, ignore_errors=True)


def point(spark: SparkSession, begun: Path, root: Path, span: Span) -> Measured:
    """Measure one length."""
    sizes = lengthened(begun, root, span)
    looked = _median(lambda: check_status(root, span.until))
    opening = _median(lambda: _opened(spark, root))
    stepping = Stepping.open(spark, root)
    end = -(-(span.until + TIMES + 1) // COMPACTED_EVERY) * COMPACTED_EVERY
    ticks = range(span.until + 1, end + 1)
    *steps, last = [stepping.step() for _ in ticks]
    check_current(root)
    check_status(root, ticks[-1])
    parts = {name: median(getattr(one, name) for one in steps[1:]) for name in Seconds.__dataclass_fields__}
    return Measured(span.until, **sizes, opening=opening, status=looked, listing=last.landing, **parts)


def _opened(spark: SparkSession, root: Path) -> None:
    """As by a process that has just started: Delta knows nothing of the tables."""
    java: Any = spark._jvm
    java.org.apache.spark.sql.delta.DeltaLog.clearCache()
    Stepping.open(spark, root)


def check_status(root: Path, ticks: int) -> None:
    """Look at the lake without Spark. Errors: AssertionError unless all rows are in their windows."""
    (source,), (stage,) = status(pipeline(root))
    assert stage.tick == source.batches == stage.projected_to == ticks, f"{stage.tick} ticks of {ticks}"
    assert stage.adds_up and stage.in_windows == source.rows, f"{stage.read} rows read of {source.rows}"


def check_current(root: Path) -> None:
    """Compare `current` with the rows of `raw`, grouped by Arrow. Errors: AssertionError."""
    raw = DeltaTable((root / "lake" / SOURCE / "raw").as_uri()).to_pyarrow_table(columns=["k", "v", "_event_time"])
    times = raw.column("_event_time")
    start = pc.multiply(pc.divide(times, PACE), PACE)
    grouped = raw.append_column("start", start).group_by(["k", "start"]).aggregate(
        [("v", "count"), ("v", "sum"), ("v", "max")]
    )  # fmt: skip
    expected = grouped.select(["k", "start", "v_count", "v_sum", "v_max"]).rename_columns(_COLUMNS)
    names = ["k", "window_start", "n", "total", "most"]
    shown = DeltaTable((root / "lake" / STAGE / "current").as_uri()).to_pyarrow_table(columns=names)
    micros = shown.column("window_start").cast(pa.timestamp("us", "UTC")).cast(pa.int64())
    found = shown.set_column(1, "start", micros).rename_columns(_COLUMNS)
    assert _sorted(found).equals(_sorted(expected)), "`current` is not what a batch over the rows gives"


_COLUMNS = ["k", "start", "n", "total", "most"]


def _sorted(rows: pa.Table) -> pa.Table:
    numbers = rows.cast(pa.schema([(name, pa.int64()) for name in _COLUMNS]))
    return numbers.sort_by([("k", "ascending"), ("start", "ascending")]).combine_chunks()


def _median(work: Callable[[], object]) -> float:
    seconds = []
    for _ in range(TIMES):
        began = time.monotonic()
        work()
        seconds.append(time.monotonic() - began)
    return median(seconds)


def _said(value: float) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:.2f}"
