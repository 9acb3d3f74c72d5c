"""The data of the bench, and how it is landed: events of many keys, about one minute out of order.

The same number of rows gives the same rows, and the same landing batches. Event time passes at one rate: the large
batches span `PERIOD`, the small ones go on behind them.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from windrow.drivers.ingest.landing import Landing
from windrow.drivers.pipeline.pipeline import PipelineWork
from windrow.drivers.spark.session import working_session
from windrow.spec.pipelines.pipeline import Pipeline
from windrow.spec.quality.suites import Suite
from windrow.spec.times import MINUTE, SECOND, parse_time
from windrow.store.delta.location import Lake

SOURCE = "events"
SCHEMA = "k bigint, v bigint, at timestamp"
START = parse_time("2024-01-01T00:00:00Z")
PERIOD = 70 * MINUTE
END = START + 1440 * MINUTE
"""Behind the last event of any run."""
OUT_OF_ORDER = 59 * SECOND
"""An element is less than this behind the one with the greatest event time: nothing is late under a delay of 1 min."""
FILES_PER_BATCH = 2
GAP = 45
"""Of sessions, in seconds: a session holds some elements of a key, and ends before the next one begins."""
NEAR = 60
"""Of record windows, in seconds."""
FEW_KEYS = 1000
"""Of sliding windows, of which each element is in sixty."""


@dataclass(frozen=True)
class Scale:
    """How much is measured. Small batches come after the large ones, for the seconds of a small tick."""

    rows: int
    batches: int
    keys: int
    rounds: int
    small_rows: int
    small_ticks: int

    @property
    def small_batches(self) -> int:
        """Half of them for ticks without projections, half with; the first of each half is not counted."""
        return 2 * (self.small_ticks + 1) if self.small_ticks else 0

    def ids(self, batch: int) -> tuple[int, int]:
        """The numbers of the rows of a batch, counted from 0 over large and then small ones."""
        if batch < self.batches:
            return batch * self.rows // self.batches, (batch + 1) * self.rows // self.batches
        first = self.rows + (batch - self.batches) * self.small_rows
        return first, first + self.small_rows


def generate(spark: SparkSession, scale: Scale, folder: Path, batches: range) -> None:
    """Write Parquet files for these batches, with rising modification times."""
    for batch in batches:
        first, last = scale.ids(batch)
        spacing = PERIOD // scale.rows
        micros = f"{START + OUT_OF_ORDER} + id * {spacing} - pmod(xxhash64(id, 2), {OUT_OF_ORDER})"
        rows = spark.range(first, last, 1, FILES_PER_BATCH).selectExpr(
            f"pmod(xxhash64(id), {scale.keys}) AS k",
            "pmod(xxhash64(id, 1), 1000) AS v",
            f"timestamp_micros({micros}) AS at",
        )
        write_batch(rows, folder, batch)


def write_batch(rows: DataFrame, folder: Path, batch: int) -> None:
    """Write rows as the Parquet files of a batch, newer than those of the batches before."""
    target = folder / f"batch-{batch:04}"
    rows.write.parquet(str(target))
    for file in target.glob("part-*.parquet"):
        os.utime(file, (1_700_000_000 + batch, 1_700_000_000 + batch))


def files_of(root: Path) -> str:
    """The files of all batches as a path that Spark reads."""
    return str(root / "data" / "*" / "part-*.parquet")


def pipeline(root: Path, *stages: dict[str, Any], lake: str = "lake") -> Pipeline:
    """A pipeline over the generated files with these stages, in the one lake of the bench or another one."""
    source = {
        "name": SOURCE, "schema": SCHEMA, "event_time": {"column": "at", "format": "timestamp"},
        "files": {"path": files_of(root), "format": "parquet", "max_files_per_batch": FILES_PER_BATCH},
        "watermark": {"bounded_delay": "1m"},
    }  # fmt: skip
    fields = {
        "keys": ["k"], "window": {"fixed": {"size": "10m"}}, "accumulation": "accumulating",
        "aggregates": {"n": {"count": "*"}, "total": {"sum": "v"}, "most": {"max": "v"}},
    }  # fmt: skip
    filled = [{**fields, **stage} for stage in stages] or [{**fields, "name": "none"}]
    return Pipeline.from_mapping({"pipeline": "bench", "lake": str(root / lake), "sources": [source], "stages": filled})


def open_work(spark: SparkSession, root: Path, *stages: dict[str, Any]) -> PipelineWork:
    """The stages opened on the lake, their projections prepared."""
    work = PipelineWork.open(pipeline(root, *stages), spark)
    for stage in work.stages:
        stage.catch_up()
    return work


RULES: tuple[dict[str, Any], ...] = (
    *({"expect": "column_values_to_not_be_null", "column": column} for column in ("k", "v", "at")),
    {"expect": "column_values_to_be_between", "column": "v", "min_value": 0, "max_value": 999},
    {"expect": "column_values_to_be_between", "column": "v", "min_value": -1, "strict_min": True},
    {"expect": "column_values_to_be_between", "column": "k", "min_value": 0},
    {"expect": "column_values_to_be_between", "column": "at", "min_value": "2024-01-01", "max_value": "2025-01-01"},
    {"expect": "column_values_to_not_be_in_set", "column": "v", "value_set": [-1, 1000, 9999]},
    {"expect": "column_values_to_not_be_in_set", "column": "k", "value_set": [-1, -2, -3]},
    {"expect": "column_pair_values_a_to_be_greater_than_b", "column_A": "k", "column_B": "v", "mostly": 0.9},
)
"""Ten rules of rows. The last one is broken by one row in two hundred, or by more where there are few keys."""


def land(spark: SparkSession, root: Path, lake: str = "lake", rules: Sequence[Mapping[str, Any]] = ()) -> None:
    """Land the files that are there by windrow's landing."""
    made = pipeline(root, lake=lake)
    suite = Suite.from_list([{**rule, "row": True} for rule in rules])
    Landing(working_session(spark), made.sources[0], Lake.of(made.lake), rules=suite.row_rules).run()


def raw_table(root: Path) -> str:
    """The path of the Delta table that every contestant reads."""
    return str(root / "lake" / SOURCE / "raw")


def files_per_step(spark: SparkSession, root: Path, after: int = 0) -> int:
    """Into how many files each landing batch behind a step went, so that Spark can take one batch at a time."""
    raw = spark.read.format("delta").load(raw_table(root)).where(f"_step > {after}")
    files = raw.selectExpr("_step", "input_file_name() AS file").distinct().groupBy("_step").count()
    numbers = {int(row["count"]) for row in files.collect()}
    assert len(numbers) == 1, f"landing batches of different numbers of files: {numbers}"
    return numbers.pop()
