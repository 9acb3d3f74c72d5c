"""`panes`: every pane and every retraction, in the order of ticks: a log of changes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pyspark.sql import SparkSession
from pyspark.sql.types import StructType

from windrow.compile.sql.columns import quoted
from windrow.spec.pipelines.column_comments import comments_of_panes
from windrow.spec.pipelines.table_columns import pane_columns
from windrow.store.delta.data_files import copied
from windrow.store.delta.log.step_log import StepLog
from windrow.store.projections.creation import commented
from windrow.store.projections.tick_range import TickRange


def write_panes(spark: SparkSession, log: StepLog, step: int, tick_range: TickRange, notes: Mapping[str, int]) -> int:
    """Append the panes of these ticks. Gives the last step that is written."""
    if not tick_range.fresh and not tick_range.has_panes:
        return step
    stage = tick_range.journal.stage.shown
    columns = pane_columns(stage)
    if tick_range.fresh:
        panes = tick_range.panes(spark).select(*map(quoted, columns))
        log.replace(commented(panes, comments_of_panes(stage)), step + 1, notes)
    else:
        append_panes(spark, log, step + 1, tick_range, columns, notes)
    return step + 1


def append_panes(
    spark: SparkSession,
    log: StepLog,
    step: int,
    tick_range: TickRange,
    columns: Sequence[str],
    notes: Mapping[str, int],
) -> None:
    """Append all rows of these ticks, as far as a table has their columns.

    Their files are copied, as they hold them already: the tables behind a backfill of 8 million rows took 0.8 s, and
    2.9 s when their rows were written once more.
    """
    files = tick_range.files_of_panes(spark)
    if files is None:
        return log.append(tick_range.panes(spark).select(*map(quoted, columns)), step, notes)
    journal = tick_range.journal
    schema = StructType([journal.schema(spark)[name] for name in columns])
    log.add(spark, copied(spark, journal.location, files, log.location, schema), step, notes)
