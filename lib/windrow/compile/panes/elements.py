"""Panes as the rows of a stage that reads a stage: with the envelope of rows of a source.

Rule: docs/semantics.md#stages-that-read-stages.

| column of the envelope | what |
|---|---|
| `_step` | the tick that emitted the pane |
| `_row` | the hash of its key, window and index: a retraction has that of the pane that it retracts |
| `_event_time` | the event time of the pane; -infinity where it has none, of all of time |
| `_partition` | the name of the stage |
"""

from __future__ import annotations

from collections.abc import Mapping

from windrow.compile.columns import KEY, PANES, WINDOW_END, WINDOW_START
from windrow.compile.elements import envelope
from windrow.compile.panes.panes import pane_rows
from windrow.compile.sql.chain import Chain
from windrow.compile.sql.columns import Column, bigint, call, coalesce, col, lit, null
from windrow.spec.stages.reads import PANE_COLUMNS
from windrow.spec.stages.stage import Stage
from windrow.spec.times import MINUS_INFINITY


def of_transitions(stage: Stage, transitions: Chain) -> Chain:
    """The panes that the transitions of a journal hold, as rows."""
    known = {name: col(name) for name in (KEY, WINDOW_START, WINDOW_END, PANES, "tick")}
    return of_panes(stage, pane_rows(stage, transitions.select({**known, "watermark": _NEVER, "now": _NEVER})))


def of_panes(stage: Stage, panes: Chain) -> Chain:
    """The rows of the table `panes`, or of that shape, as rows."""
    columns = {name: col(name) for name in (*stage.keys, *stage.result_columns, *PANE_COLUMNS)}
    return panes.select({**_envelope(stage), **columns})


def _envelope(stage: Stage) -> Mapping[str, Column]:
    keys = [column for name in stage.keys for column in (col(name).is_null(), col(name))]  # a hash passes over nulls
    identity = [*keys, *map(col, ("window_start", "window_end", "pane_index", *stage.row_number))]
    return {
        envelope.STEP: col("tick"),
        envelope.ROW: call("xxhash64", *identity),
        envelope.EVENT_TIME: coalesce(call("unix_micros", col("event_time")), bigint(MINUS_INFINITY)),
        envelope.ARRIVAL_TIME: null("bigint"),
        envelope.PARTITION: lit(stage.name),
        **{name: null("string") for name in (envelope.OFFSET, envelope.REASON, envelope.RULE, envelope.RAW)},
    }


_NEVER = bigint(MINUS_INFINITY)
