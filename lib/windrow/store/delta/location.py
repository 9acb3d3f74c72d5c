"""How tables are reached: one value for a Delta table, and the layout of a lake."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from uuid import uuid4

from windrow.spec.pipelines.table_columns import QUALITY_TABLE
from windrow.spec.sources.source import resolve_environment
from windrow.store.delta.file_system import hadoop, read_text

if TYPE_CHECKING:  # the layout of a lake is known without Spark
    from delta.tables import DeltaTable
    from pyspark.sql import DataFrame, DataFrameWriter, SparkSession

READABLE: Mapping[str, str] = {
    "delta.enableDeletionVectors": "false",
    "delta.columnMapping.mode": "none",
    "delta.checkpointPolicy": "classic",
    "delta.checkpointInterval": "50",
}
"""Table properties that keep a table readable for Arrow, DuckDB and Polars, with a commit a tick."""

LOG = "_delta_log"
"""The folder of a table's commits."""

REWRITES = "rewrites"
"""The note of a step that changes rows of other steps."""

STANDING = "standing"
"""Under this name the metadata of a commit that is no step repeat what the newest step has said."""

USER_METADATA = "spark.databricks.delta.commitInfo.userMetadata"
"""The setting of a session that says what stands in `userMetadata` of the commits that Delta makes."""

STAGING = "staging"
"""The folder of the lake's own tables where runs stage windows."""

S3 = frozenset({"s3", "s3a", "s3n"})
"""Schemes of S3, and of stores that speak as it does."""

INDEXED = "delta.dataSkippingNumIndexedCols"
"""The property that says in how many of the first columns Delta counts for every file."""


def is_on_s3(path: str) -> bool:
    """Whether a path is one of S3."""
    return path.partition("://")[0].lower() in S3


@dataclass(frozen=True)
class Location:
    """Where one Delta table is: a path or URI that Spark can write."""

    path: str

    def exists(self, spark: SparkSession) -> bool:
        from delta.tables import DeltaTable

        return DeltaTable.isDeltaTable(spark, self.path)

    def table(self, spark: SparkSession) -> DeltaTable:
        from delta.tables import DeltaTable

        return DeltaTable.forPath(spark, self.path)

    def read(self, spark: SparkSession, version: int | None = None) -> DataFrame:
        reader = spark.read.format("delta")
        return (reader if version is None else reader.option("versionAsOf", version)).load(self.path)

    def remove(self, spark: SparkSession) -> None:
        """Delete the table and its folder. It gets another name first, so that nobody meets a half of it.

        On an object store that would copy it: there its log goes first.
        """
        files, path = hadoop(spark, self.path)
        if is_on_s3(self.path):
            files.delete(hadoop(spark, f"{self.path}/{LOG}")[1], True)
            files.delete(path, True)
            return
        _, gone = hadoop(spark, f"{self.path}.gone-{uuid4().hex[:12]}")
        if files.exists(path) and files.rename(path, gone):
            files.delete(gone, True)

    def save(self, writer: DataFrameWriter) -> None:
        writer.save(self.path)


class LogPlace(NamedTuple):
    """Where a log is, and the name under which its commits carry their steps."""

    location: Location
    app_id: str


@dataclass(frozen=True)
class Lake:
    """The folders of a lake. `root` may hold `${NAME}`, replaced here and nowhere else."""

    root: str

    @classmethod
    def of(cls, text: str) -> Lake:
        """A relative path starts where the process does: Delta makes tables at absolute ones only."""
        lake = cls(resolve_environment(text).rstrip("/"))
        return lake if lake.has_scheme else cls(str(Path(lake.root).absolute()))

    @property
    def has_scheme(self) -> bool:
        """Whether it says on which file system it is."""
        return "://" in self.root or self.root.startswith("file:")

    def table(self, owner: str, name: str) -> Location:
        """The table `name` of a source or stage."""
        return Location(f"{self.root}/{owner}/{name}")

    def internal(self, name: str) -> Location:
        """A table of windrow's own that belongs to the lake as a whole."""
        return Location(f"{self.root}/_windrow/{name}")

    def staging(self, run: str) -> Location:
        """The folder of what a run has staged. `run` may be any text, as Airflow's ids of runs are."""
        return self.internal(f"{STAGING}/{re.sub('[^A-Za-z0-9_.-]', '_', run)}")

    @property
    def quality_results(self) -> Location:
        """The table of what suites have found, of all sources and stages."""
        return Location(f"{self.root}/{QUALITY_TABLE}")

    def raw(self, source: str) -> LogPlace:
        """The raw log of a source."""
        return LogPlace(self.table(source, "raw"), f"windrow-raw-{source}")

    def journal(self, stage: str, generation: int) -> LogPlace:
        """The journal of a generation of a stage."""
        return LogPlace(self.table(stage, f"journal/{generation}"), f"windrow-journal-{stage}-{generation}")

    def cells(self, stage: str, generation: int) -> LogPlace:
        """The snapshot into which that journal is compacted."""
        return LogPlace(self.table(stage, f"cells/{generation}"), f"windrow-cells-{stage}-{generation}")

    def checkpoint(self, source: str) -> str:
        return f"{self.root}/_windrow/checkpoints/{source}"

    def has_begun(self, spark: SparkSession, source: str) -> bool:
        """Whether the checkpoint of a source knows from where to go on: a batch has been begun under it."""
        files, folder = hadoop(spark, f"{self.checkpoint(source)}/offsets")
        return bool(files.exists(folder)) and len(files.listStatus(folder)) > 0

    def batch_end(self, spark: SparkSession, source: str, batch: int) -> str:
        """Where a batch of a source's query ends, as its connector writes it: JSON in the log of offsets."""
        text = read_text(spark, f"{self.checkpoint(source)}/offsets/{batch}")
        return (text or "").splitlines()[-1]
