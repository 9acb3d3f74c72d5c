"""The tables of a stage or a source, as a user of PySpark reads them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from windrow.spec.notebooks import InNotebooks
from windrow.spec.sources.source import Source
from windrow.spec.stages.stage import Stage

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@dataclass(frozen=True)
class Table(InNotebooks):
    """The tables of one stage, or of one source, in a lake. `spark` is any session with Delta.

    `of` is that stage or source, where it is known: a notebook shows the columns with it.

    Each is there when the stage has run; reading one that is not raises Spark's error for a path that does not exist.
    """

    lake: str
    name: str
    of: Source | Stage | None = field(default=None, repr=False, compare=False)

    def path(self, table: str) -> str:
        """Where a table is: `current`, `panes`, `dead_letters` or `ticks`; of a source `raw` or `landings`."""
        return f"{self.lake.rstrip('/')}/{self.name}/{table}"

    def current(self, spark: SparkSession) -> DataFrame:
        """The latest result of each key and window."""
        return self._read(spark, "current")

    def panes(self, spark: SparkSession) -> DataFrame:
        """Every pane and every withdrawal, in the order of ticks."""
        return self._read(spark, "panes")

    def dead_letters(self, spark: SparkSession) -> DataFrame:
        """Every row that is in no result, with the reason."""
        return self._read(spark, "dead_letters")

    def ticks(self, spark: SparkSession) -> DataFrame:
        """One row for each tick, with what it counted."""
        return self._read(spark, "ticks")

    def _read(self, spark: SparkSession, table: str) -> DataFrame:
        return spark.read.format("delta").load(self.path(table))
