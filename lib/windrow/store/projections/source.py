"""The tables of a source: `landings`, one row a landing batch, and `dead_letters`, the rows that were dead on arrival.

Both are made from `raw`, behind it, and hold in each commit the landing step that they are made up to.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from pyspark.sql import DataFrame, SparkSession

from windrow.compile.elements import envelope
from windrow.compile.panes.panes import as_timestamp
from windrow.compile.sql.columns import Column, call, coalesce, col, lit
from windrow.engine.frames import group, select, where
from windrow.spec.pipelines.table_columns import LANDINGS, SOURCE_DEAD_LETTERS
from windrow.store.delta.location import Lake
from windrow.store.delta.retries import tried_again
from windrow.store.delta.step_log import StepLog
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
                frame = rows(self.raw.name, self.raw.rows(self.spark, 0 if fresh else done, head))
                if fresh:
                    log.replace(commented(frame), step + 1, {"raw_step": head})
                else:
                    log.append(frame, step + 1, {"raw_step": head})
                self.after_write(name)


def _landings(source: str, rows: DataFrame) -> DataFrame:
    counts = {
        "landed_at": as_timestamp(call("max", col(envelope.ARRIVAL_TIME))),
        "files": call("count", Column(f"DISTINCT {envelope.file_of().text}")),
        "rows": call("count", 1),
        "dead": call("count_if", col(envelope.REASON).is_not_null()),
    }
    grouped = group(rows, (envelope.STEP,), counts)
    return select(grouped, {"step": col(envelope.STEP), **{name: col(name) for name in counts}})


def _dead_letters(source: str, rows: DataFrame) -> DataFrame:
    own = [name for name in rows.columns if name not in envelope.ENVELOPE]
    element = coalesce(col(envelope.RAW), call("to_json", call("struct", *map(col, own))))
    return select(
        where(rows, col(envelope.REASON).is_not_null()),
        {
            "reason": col(envelope.REASON),
            "rule": col(envelope.RULE),
            "event_time": as_timestamp(col(envelope.EVENT_TIME)),
            "element": element,
            "source": lit(source),
            "partition": col(envelope.PARTITION),
            "offset": col(envelope.OFFSET),
            "arrived_at": as_timestamp(col(envelope.ARRIVAL_TIME)),
            "step": col(envelope.STEP),
        },
    )


_TABLES = {"dead_letters": (SOURCE_DEAD_LETTERS, _dead_letters), "landings": (LANDINGS, _landings)}
