"""Results that stay as they were, because others are part of them: what asks for it, and which windows these are."""

from __future__ import annotations

from dataclasses import dataclass

from pyspark.sql import DataFrame, SparkSession

from windrow.compile.columns import CELL
from windrow.drivers.forget.windows.affected import Affected
from windrow.drivers.pipeline.pipeline import PipelineWork
from windrow.drivers.pipeline.stage import StageWork
from windrow.spec.errors import NotInThisVersion
from windrow.store.delta.appends import append_once
from windrow.store.delta.copy_on_write import Rewrite, rewrite_once
from windrow.store.delta.location import Lake, Location

_WITHOUT_VALUES = frozenset(
    {"count", "count_if", "sum", "mean", "variance", "stddev", "any", "all", "histogram", "approx_count_distinct"}
)
"""Aggregates of which neither the result nor the state has the value of a row in it, where others are part of it."""


@dataclass(frozen=True)
class LeftWindows:
    """The windows of a generation of a stage that were left as they are: a batch over the rows would give others."""

    spark: SparkSession
    lake: Lake
    stage: str
    generation: int

    @classmethod
    def of(cls, work: PipelineWork, item: StageWork) -> LeftWindows:
        """Of a stage in its generation."""
        return cls(work.spark, work.lake, item.name, item.runner.journal.generation)

    def write(self, cells: DataFrame) -> None:
        """Remember windows, by `key` and bounds; some may be there already."""
        append_once(self.spark, self.location, cells.select(*CELL).distinct(), "left")

    def forget(self, affected: Affected) -> None:
        """Take out those that were made anew since: they are compared again, and may have the person for their key."""
        if self.location.exists(self.spark):
            rewrite_once(self.spark, self.location, Rewrite(affected.tells))

    def but(self, windows: DataFrame) -> DataFrame:
        """The windows but for these."""
        known = self.read()
        return windows if known is None else windows.join(known, on=list(CELL), how="left_anti")

    def read(self) -> DataFrame | None:
        """All of them, each once; None where there are none."""
        if not self.location.exists(self.spark):
            return None
        return self.location.read(self.spark).distinct()

    @property
    def location(self) -> Location:
        """Of the table that has them."""
        return self.lake.internal(f"left/{self.stage}-{self.generation}")


_HINT = "leave --leave out: results are made of the other rows"


def check_can_leave(work: PipelineWork) -> None:
    """Raises NotInThisVersion where a result or a state would keep a value of hers, or cannot be told from others."""
    for item in work.stages:
        stage = item.runner.stage
        if item.runner.strategy.depends_on_others or stage.panes.gathered:
            rule = "has windows or rows that depend on others, which cannot be left as they are"
            raise NotInThisVersion(f"stages.{item.name}", rule, None, _HINT)
        if stage.stage.keeps_event_times:
            rule = "is that of a row, maybe one of the person, so that it cannot be left as it is"
            got = stage.stage.event_time.value
            raise NotInThisVersion(f"stages.{item.name}.event_time", rule, got, _HINT)
        for name, aggregate in stage.stage.aggregates.items():
            if aggregate.NAME not in _WITHOUT_VALUES:
                rule = "may have a value of the person in it, so that it cannot be left as it is"
                raise NotInThisVersion(f"stages.{item.name}.aggregates.{name}", rule, aggregate.NAME, _HINT)
