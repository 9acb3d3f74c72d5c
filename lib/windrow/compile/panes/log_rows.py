"""Transitions as the rows of a stage's journal: flat, with the columns of `panes`, and the state beside them.

A transition that emits nothing is a row of the kind `cell`. One that emits is a row of the kind `pane` for each pane
and retraction, and the last of them says what became of the cell: of the others that is null.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from windrow.compile.columns import (
    CELL,
    EMITS,
    EXPIRED,
    KEY,
    ONE_PANE,
    OPENED,
    PANES,
    STATE,
    WINDOW_END,
    WINDOW_START,
)
from windrow.compile.elements.elements import UNKEYED
from windrow.compile.panes.event_times import end_of_window
from windrow.compile.panes.panes import PANE_FIELDS, as_timestamp
from windrow.compile.sql.chain import Chain
from windrow.compile.sql.columns import Column, bigint, call, changing, coalesce, col, lit, null, struct, when
from windrow.spec.pipelines.table_columns import pane_columns
from windrow.spec.stages.keys import LogColumn
from windrow.spec.stages.stage import Stage
from windrow.spec.times import INFINITY, MINUS_INFINITY

CELLS, PANE = "cell", "pane"
"""The kinds of the rows of transitions."""

FIRST = (
    WINDOW_START, WINDOW_END, "tick", LogColumn.NOT_LAST, LogColumn.OPENED, LogColumn.ENDED, LogColumn.OUTGROWN,
    LogColumn.CHANGED, LogColumn.RETRACTION, LogColumn.CLOSED,
)  # fmt: skip
"""The first columns, also of rows that are no panes. By them a tick counts: of the first ones Delta keeps for each file
the least and greatest values, and how many are null."""

_LAST = "_last"


def log_rows(
    stage: Stage,
    state: Sequence[str],
    transitions: Chain,
    bucket: Column,
    tick: int,
    watermark: int,
    now: int,
    has_one: bool = False,
) -> Chain:
    """The rows of the transitions of a tick, with its watermark and processing time; `bucket` is that of the window.

    `state` are the fields of the state that are written. `has_one`: each emits one pane at most, and has it as it is.
    """
    rows = transitions.with_columns({LogColumn.NOT_LAST: null("boolean")}) if has_one else _exploded(stage, transitions)
    is_pane, is_last = col(EMITS), col(LogColumn.NOT_LAST).is_null()

    def of_pane(*names: str) -> Column:
        return when(is_pane, col(ONE_PANE, *names)) if has_one else col(ONE_PANE, *names)

    event_time = of_pane("event_time") if stage.keeps_event_times else when(is_pane, end_of_window())
    outgrown = lit(False)
    if stage.window.expected_length is not None:
        outgrown = col(OPENED) & (col(WINDOW_END) - col(WINDOW_START) > bigint(stage.window.expected_length))
    written = struct(**{name: col(STATE, name) for name in state})
    flat = rows.select(
        {
            **{name: col(KEY, name) for name in stage.keys},
            **{name: of_pane("result", name) for name in stage.emitted},
            **{name: of_pane(name) for name in PANE_FIELDS},
            WINDOW_START: as_timestamp(col(WINDOW_START)),
            WINDOW_END: as_timestamp(col(WINDOW_END)),
            "event_time": as_timestamp(event_time),
            "watermark": when(is_pane, as_timestamp(changing(watermark))),
            "produced_at": when(is_pane, as_timestamp(changing(now))),
            "tick": changing(tick),
            LogColumn.NOT_LAST: col(LogColumn.NOT_LAST),
            LogColumn.OPENED: when(is_last & col(OPENED), True),
            LogColumn.ENDED: when(is_last & col(EXPIRED), True),
            LogColumn.OUTGROWN: when(is_last & outgrown, True),
            LogColumn.CHANGED: when(of_pane("change") != "insert", True),
            LogColumn.RETRACTION: when(of_pane("weight") < 0, True),
            LogColumn.CLOSED: null("boolean"),
            LogColumn.STATE: when(is_last & col(STATE).is_not_null(), written),
            LogColumn.KIND: when(is_pane, PANE, CELLS),
            LogColumn.BUCKET: bucket,
        }
    )
    derived = {name: when(col(LogColumn.KIND) == PANE, Column(e.value_sql)) for name, e in stage.derive.items()}
    return flat.with_columns(derived).only(dict.fromkeys((*FIRST, *pane_columns(stage), *_BESIDE)))


def without_values(stage: Stage, keeps_state: bool) -> tuple[str, ...]:
    """The columns that are null in all rows, where each is the first pane of a window and, without a trigger, the last.

    `keeps_state`: something of a window is kept behind its last pane.
    """
    of_window = () if stage.window.expected_length is not None else (LogColumn.OUTGROWN,)
    of_state = () if keeps_state else (LogColumn.STATE,)
    return (*_NEVER_OF_FIRST, *of_window, *of_state)


def _exploded(stage: Stage, transitions: Chain) -> Chain:
    """A row for each pane of a transition, and one for a transition without any."""
    several = call("size", col(PANES)) > 1
    exploded = transitions.select(
        {
            **{name: col(name) for name in (*CELL, STATE, EXPIRED, OPENED)},
            _LAST: when(several, _told_apart(stage, Column(f"element_at({PANES}, -1)"))),
            ONE_PANE: call("explode_outer", col(PANES)),
        }
    )
    not_last = col(_LAST).is_not_null() & (col(_LAST) != _told_apart(stage, col(ONE_PANE)))
    return exploded.with_columns({LogColumn.NOT_LAST: when(not_last, True), EMITS: col(ONE_PANE).is_not_null()})


def _told_apart(stage: Stage, pane: Column) -> Column:
    """What tells a pane from the others that a tick emits for its window."""
    numbers = {name: pane.field("result").field(name) for name in stage.row_number}
    return struct(index=pane.field("pane_index"), weight=pane.field("weight"), **numbers)


_NEVER_OF_FIRST = (
    LogColumn.NOT_LAST, LogColumn.CHANGED, LogColumn.RETRACTION, LogColumn.CLOSED, "watermark_percentile",
)  # fmt: skip
_BESIDE = (LogColumn.STATE, LogColumn.KIND, LogColumn.BUCKET)


START = coalesce(call("unix_micros", col(WINDOW_START)), bigint(MINUS_INFINITY))
"""The start of the window of a row in microseconds, where the global window has none."""

END = coalesce(call("unix_micros", col(WINDOW_END)), bigint(INFINITY))
"""And its end."""


def cell_identity(stage: Stage) -> Mapping[str, Column]:
    """`key` and bounds in microseconds, from the columns of the journal, or of any table of panes."""
    key = struct(**{name: col(name) for name in stage.keys}) if stage.keys else struct(**{UNKEYED: True})
    return {KEY: key, WINDOW_START: START, WINDOW_END: END}
