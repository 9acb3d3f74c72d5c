"""A stage over one batch, in a notebook: no lake, no tick, only the results.

Rule: docs/semantics.md#backfill-and-reconcile.
"""

from __future__ import annotations

from pyspark.sql import DataFrame

from windrow.compile.columns import KEY, WINDOW_END, WINDOW_START
from windrow.compile.elements import envelope
from windrow.compile.panes.panes import as_timestamp
from windrow.compile.sql.columns import Column, bigint, call, coalesce, col, null
from windrow.engine.compiling.stage import InputRows, compile_stage
from windrow.engine.final import final_values
from windrow.engine.frames import apply, over, select, where
from windrow.sources.times import micros
from windrow.spec.errors import SpecError
from windrow.spec.fields.schemas import Schema
from windrow.spec.sources.source import TimeColumn
from windrow.spec.stages.inputs import ONLY
from windrow.spec.stages.stage import Stage
from windrow.spec.stages.weights import check_takes_back, check_weight


def panes(
    stage: Stage, frame: DataFrame, event_time: TimeColumn | str = "event_time", weight: str | None = None
) -> DataFrame:
    """The final result of every key and window over the rows of a frame, as a backfill would give it.

    `event_time` is the column that holds it: the name of a timestamp column, or a `TimeColumn`; `weight` is a column
    of +1 and -1, if rows can be taken back. The result has the keys, `window_start`, `window_end`, the aggregates and
    the derived columns. Rows whose event time or weight cannot be read, and those on which an expression fails, are
    left out. Errors: SpecError.
    """
    if stage.inputs:
        raise SpecError("inputs", "are for a pipeline: a frame has the rows of one", ", ".join(stage.inputs))
    column = TimeColumn(event_time) if isinstance(event_time, str) else event_time
    rows = _with_envelope(frame, column)
    readable = col(envelope.EVENT_TIME).is_not_null()
    if weight is not None:
        check_weight(weight, Schema.of_columns([(f.name, f.dataType.simpleString()) for f in frame.schema.fields]))
        check_takes_back(stage)
        readable = readable & coalesce(call("abs", col(weight).cast("bigint")) == 1, False)
    compiled = compile_stage(stage, {ONLY: InputRows(rows, weight=weight)})
    values = final_values(compiled, where(rows, readable))
    results = select(
        values,
        {
            **{name: col(KEY, name) for name in stage.keys},
            "window_start": as_timestamp(col(WINDOW_START)),
            "window_end": as_timestamp(col(WINDOW_END)),
            **{name: col(f"v_{name}") for name in stage.aggregates},
        },
    )
    derived = {name: Column(expression.value_sql) for name, expression in stage.derive.items()}
    return apply(over(results).with_columns(derived), results)


def _with_envelope(frame: DataFrame, column: TimeColumn) -> DataFrame:
    kinds = {field.name: field.dataType.simpleString() for field in frame.schema.fields}
    if column.column not in kinds:
        raise SpecError("event_time", "is not a column of the frame", column.column, f"one of {', '.join(kinds)}")
    texts = {envelope.PARTITION, envelope.OFFSET, envelope.REASON, envelope.RULE, envelope.RAW}
    known = {
        envelope.STEP: bigint(0),
        envelope.ROW: bigint(0),
        envelope.ARRIVAL_TIME: bigint(0),
        envelope.EVENT_TIME: micros(column, kinds[column.column]),
    }
    added = {name: null("string") if name in texts else known[name] for name in envelope.ENVELOPE}
    return select(frame, {**added, **{name: col(name) for name in kinds}})
