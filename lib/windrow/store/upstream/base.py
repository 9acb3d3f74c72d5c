"""What a stage reads: a log of rows with their envelope, in steps."""

from __future__ import annotations

from typing import Protocol

from pyspark.sql import DataFrame, SparkSession

from windrow.engine.tick.statistics import LandedRows


class Upstream(Protocol):
    """The raw log of a source, or the panes of a stage."""

    @property
    def name(self) -> str:
        """Of the source or the stage."""

    def last_step(self, spark: SparkSession) -> int:
        """The newest step; 0 before the first."""

    def rows(self, spark: SparkSession, after: int, until: int) -> DataFrame:
        """The rows of the steps after < step <= until."""

    def narrow(self, spark: SparkSession, after: int, until: int) -> DataFrame | None:
        """The same with the columns that stages use, where it takes less to read them; the others are null."""

    def landed(self, spark: SparkSession, after: int, until: int) -> LandedRows | None:
        """What is known of these rows without a look at them; None where that is not enough."""

    def has_rows(self, after: int, until: int) -> bool:
        """Whether the steps after < step <= until may have rows: False only where the log knows that they have none."""

    def quarantined(self, spark: SparkSession) -> int:
        """The last step that took rows out of earlier ones; 0 where there is none."""
