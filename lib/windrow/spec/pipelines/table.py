"""The tables of a stage or a source, as a user reads them: frames of Spark, or without Spark those of Arrow."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from windrow.spec.errors import NotReadable, SpecError
from windrow.spec.notebooks import InNotebooks
from windrow.spec.pipelines.table_columns import QUALITY_TABLE
from windrow.spec.sources.source import Source, resolve_environment
from windrow.spec.stages.stage import Stage

if TYPE_CHECKING:
    import pyarrow  # type: ignore[import-untyped]
    import pyarrow.dataset  # type: ignore[import-untyped]
    from pyspark.sql import DataFrame, SparkSession


@dataclass(frozen=True)
class Table(InNotebooks):
    """The tables of one stage, or of one source, in a lake. `spark` is any session with Delta.

    `of` is that stage or source, where it is known: a notebook shows the columns with it.

    Each is there when the stage has run. Reading one that is not raises Spark's error for a path that does not exist,
    and SpecError where it is read without Spark.
    """

    lake: str
    name: str
    of: Source | Stage | None = field(default=None, repr=False, compare=False)

    def path(self, table: str) -> str:
        """Where a table is: `current`, `panes`, `dead_letters` or `ticks`; of a source `raw` or `landings`.

        `quality_results` is one table for all of them.
        """
        owner = "" if table == QUALITY_TABLE else f"{self.name}/"
        return f"{self.lake.rstrip('/')}/{owner}{table}"

    def current(self, spark: SparkSession) -> DataFrame:
        """The latest result of each key and window."""
        return self._read(spark, "current")

    def panes(self, spark: SparkSession) -> DataFrame:
        """Every pane and every retraction, in the order of ticks."""
        return self._read(spark, "panes")

    def dead_letters(self, spark: SparkSession) -> DataFrame:
        """Every row that is in no result, with the reason."""
        return self._read(spark, "dead_letters")

    def ticks(self, spark: SparkSession) -> DataFrame:
        """One row for each tick, with what it counted."""
        return self._read(spark, "ticks")

    def quality_results(self, spark: SparkSession) -> DataFrame:
        """What suites have found in its rows: one row for each expectation and judgement."""
        return self._read(spark, QUALITY_TABLE).where(f"stage = '{self.name}'")

    def arrow(self, table: str = "current", columns: Sequence[str] | None = None) -> pyarrow.Table:
        """All rows of a table, and all columns or some, in Arrow: read without Spark, by `deltalake`.

        Polars, pandas and DuckDB take it as it is: `polars.from_arrow(rows)`, `rows.to_pandas()`. Raises SpecError
        where the table is not there, or `deltalake` cannot reach it.
        """
        return self.dataset(table).to_table(columns=None if columns is None else list(columns))

    def dataset(self, table: str = "current") -> pyarrow.dataset.Dataset:
        """A table as it stands now, as a dataset of Arrow, which reads no more than a filter and columns ask for.

        Raises SpecError as `arrow` does.
        """
        from deltalake import DeltaTable
        from deltalake.exceptions import DeltaError

        path = resolve_environment(self.path(table))
        try:
            if DeltaTable.is_deltatable(path):
                own = [("stage", "=", self.name)] if table == QUALITY_TABLE else None
                return DeltaTable(path).to_pyarrow_dataset(partitions=own)
        except (DeltaError, OSError, ValueError) as error:
            raise NotReadable.because(f"{self.name}/{table}", path, error) from error
        hint = "windrow run, or --set lake=..."
        raise SpecError(f"{self.name}/{table}", "is not there: it has not run in this lake", self.lake, hint)

    def _read(self, spark: SparkSession, table: str) -> DataFrame:
        return spark.read.format("delta").load(self.path(table))
