"""What `windrow maintain --keep 0h` does beside other maintenance, so that nothing is left of what was forgotten."""

from __future__ import annotations

from pyspark.sql import SparkSession

from windrow.compile.elements.envelope import FORGOTTEN, REASON
from windrow.compile.sql.columns import col, lit
from windrow.drivers.forget.examples import forget_examples
from windrow.drivers.forget.unfinished import check_finished
from windrow.drivers.pipeline.pipeline import PipelineWork
from windrow.drivers.pipeline.points import point
from windrow.engine.frames import where
from windrow.store.delta.file_system import delete_folder
from windrow.store.delta.history import History
from windrow.store.delta.leftovers import half_removed
from windrow.store.delta.location import Location


def begin_erasing(work: PipelineWork, dry_run: bool = False) -> None:
    """Remove what no table has: folders that were half deleted, and examples that a gate has kept meanwhile.

    Raises NotYet where something of what was forgotten would stay: while a forgetting is unfinished, and while the
    tables show another generation of a stage than the one that goes on.
    """
    check_finished(work)
    for item in work.stages:
        item.check_settled()
    if dry_run:
        return
    if _have_forgotten(work):
        forget_examples(work.spark, work.lake)
    for folder in list(half_removed(work.spark, Location(work.lake.root))):
        delete_folder(work.spark, folder)
    point("erase:after_folders")


def erase_history(spark: SparkSession, location: Location, before: int) -> int:
    """Remove the files that a table has no more, and what its log says of their rows; the oldest version that is left.

    What is half written is left if it was written at that time or later, in microseconds.
    """
    erased = History(spark, location).erase(before)
    point("erase:after_history")
    return erased.oldest


def _have_forgotten(work: PipelineWork) -> bool:
    """Whether a row of a source was forgotten."""
    for source in work.pipeline.sources:
        raw = work.raws[source.name]
        until = 0 if source.connector.is_in_place else raw.last_step(work.spark)
        if until and not where(raw.rows(work.spark, 0, until), col(REASON).same(lit(FORGOTTEN))).isEmpty():
            return True
    return False
