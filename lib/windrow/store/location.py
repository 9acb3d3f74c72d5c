"""How tables are reached: one value for a Delta table, and the layout of a lake."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from delta.tables import DeltaTable
from pyspark.sql import DataFrame, DataFrameWriter, SparkSession

from windrow.spec.sources import resolve_environment

READABLE: Mapping[str, str] = {
    "delta.enableDeletionVectors": "false",
    "delta.columnMapping.mode": "none",
    "delta.checkpointPolicy": "classic",
    "delta.checkpointInterval": "50",
}
"""Table properties that keep a table readable for Arrow, DuckDB and Polars, with a commit a tick."""


@dataclass(frozen=True)
class Location:
    """Where one Delta table is: a path or URI that Spark can write."""

    path: str

    def exists(self, spark: SparkSession) -> bool:
        return DeltaTable.isDeltaTable(spark, self.path)

    def table(self, spark: SparkSession) -> DeltaTable:
        return DeltaTable.forPath(spark, self.path)

    def read(self, spark: SparkSession) -> DataFrame:
        return spark.read.format("delta").load(self.path)

    def save(self, writer: DataFrameWriter) -> None:
        writer.save(self.path)


@dataclass(frozen=True)
class Lake:
    """The folders of a lake. `root` may hold `${NAME}`, replaced here and nowhere else."""

    root: str

    @classmethod
    def of(cls, text: str) -> Lake:
        return cls(resolve_environment(text).rstrip("/"))

    def table(self, owner: str, name: str) -> Location:
        """The table `name` of a source or stage."""
        return Location(f"{self.root}/{owner}/{name}")

    def internal(self, name: str) -> Location:
        """A table of windrow's own that belongs to the lake as a whole."""
        return Location(f"{self.root}/_windrow/{name}")

    def checkpoint(self, source: str) -> str:
        return f"{self.root}/_windrow/checkpoints/{source}"
