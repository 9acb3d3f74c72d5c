"""The tables of a source: `landings`, one row a landing batch, and `dead_letters`, the rows that were dead on arrival.

Both are made from `raw`, behind it, and hold in each commit the landing step that they are made up to.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from pyspark.sql import DataFrame, SparkSession

from windrow.compile.elements import envelope
from windrow.compile.panes.panes import as_timestamp
from windrow.compile.sql.columns import call, coalesce, col, lit
from windrow.compile.sql.json import as_json
from windrow.engine.frames import select
from windrow.spec.pipelines.table_columns import LANDINGS, SOURCE_DEAD_LETTERS
from windrow.store.delta.location import Lake
from windrow.store.delta.log.retries import tried_again
from windrow.store.delta.log.step_log import StepLog
from windrow.store.projections.creation import commented, ensure_table, struct_of
from windrow.store.upstream.raw import Raw


@dataclass
class SourceProjections:
    """The tables of one source."""

    spark: SparkSession
    lake: Lake
    raw: Raw
    after_write: Callable[[str], None] = lambda name: None
    _logs: dict[str, StepLog] = field(default_factory=dict)

    def project(self) -> None:
        """Project both tables up to the newest landing step; made anew where a file was taken out since.

        Another writer may do the same at the same time.
        """
        tried_again(self._project)

    def _project(self) -> None:
        last = self.raw.log.last(self.spark)
        head, quarantined = 0 if last is None else last.step, self.raw.quarantined_at(last)
        for name, (schema, rows) in _TABLES.items():
            log = self._logs.get(name)
            if log is None:
                location = self.lake.table(self.raw.name, name)
                log = self._logs[name] = StepLog(location, f"windrow-{name}-{self.raw.name}")
                ensure_table(self.spark, location, struct_of(schema))
            commit = log.last(self.spark)
            step, done = (0, 0) if commit is None else (commit.step, commit.notes["raw_step"])
            if done < head:
                fresh = done < quarantined
                frame = rows(self.spark, self.raw, 0 if fresh else done, head)
                if fresh:
                    log.replace(commented(frame), step + 1, {"raw_step": head})
                else:
                    log.append(frame, step + 1, {"raw_step": head})
                self.after_write(name)


def _landings(spark: SparkSession, raw: Raw, after: int, until: int) -> DataFrame:
    found = raw.landings(spark, after, until)
    counts = {name: col(name) for name in ("files", "rows", "dead")}
    return select(found, {"step": col(envelope.STEP), "landed_at": as_timestamp(col("landed_at")), **counts})


def _dead_letters(spark: SparkSession, raw: Raw, after: int, until: int) -> DataFrame:
    rows = raw.dead(spark, after, until)
    own = [name for name in rows.columns if name not in envelope.ENVELOPE]
    element = coalesce(col(envelope.RAW), as_json(call("struct", *map(col, own))))
    return select(
        rows,
        {
            "reason": col(envelope.REASON),
            "rule": col(envelope.RULE),
            "event_time": as_timestamp(col(envelope.EVENT_TIME)),
            "element": element,
            "source": lit(raw.name),
            "partition": col(envelope.PARTITION),
            "offset": col(envelope.OFFSET),
            "arrived_at": as_timestamp(col(envelope.ARRIVAL_TIME)),
            "step": col(envelope.STEP),
        },
    )


_TABLES = {"dead_letters": (SOURCE_DEAD_LETTERS, _dead_letters), "landings": (LANDINGS, _landings)}
