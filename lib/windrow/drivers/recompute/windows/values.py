"""The final results of a stage over the rows of its upstream. Rule: docs/semantics.md#backfill-and-reconcile."""

from __future__ import annotations

from pyspark.sql import DataFrame

from windrow.compile.columns import WEIGHT
from windrow.compile.sql.columns import col
from windrow.drivers.pipeline.stage import StageWork
from windrow.engine.final import final_values
from windrow.engine.frames import where
from windrow.engine.tick.inputs import parted
from windrow.spec.errors import NotInThisVersion


def batch_of(item: StageWork, rows: DataFrame, excluded: DataFrame | None = None) -> DataFrame:
    """The final values of all windows over rows of the upstream; of panes, only those count that stand.

    `excluded` are the pairs of row and window that are left out.
    """
    stage = item.runner.stage
    net = [
        name
        for name, frame in parted(stage, rows).items()
        if stage.of_input(name).nets and not where(frame, col(WEIGHT) < 0).isEmpty()
    ]
    if net and item.runner.strategy.ends_by_cells:
        rule = "over a stage that was corrected cannot be recomputed in this version"
        raise NotInThisVersion(f"stages.{item.name}.window.record", rule)
    return final_values(stage, rows, excluded, net)
