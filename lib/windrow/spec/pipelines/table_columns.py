"""The columns of the tables that people read: their order, what they hold, and their types where those are given.

The types of keys and results follow from the rows that a stage reads; only Spark knows them.
"""

from __future__ import annotations

from collections.abc import Mapping

from windrow.spec.stages.stage import Stage

COMMENTS: Mapping[str, str] = {
    "window_start": "start of the window, included; null for the global window",
    "window_end": "end of the window, excluded; null for the global window",
    "timing": "early, on_time or late, against the watermark",
    "pane_index": "number of the pane within its window, from 0",
    "on_time_index": "number among the panes of the window that are not early, from 0; null for early ones",
    "is_first": "true for the first pane of the window",
    "is_last": "true for the last pane of the window",
    "event_time": "event time of the pane: the last instant of its window, or that of its elements",
    "watermark": "watermark of the stage after the tick; null before it is known and at the end of time",
    "watermark_percentile": "share of source partitions whose watermark had reached the window's end; null if late",
    "produced_at": "processing time of the tick",
    "tick": "the tick that emitted the row",
    "change": "insert, update_preimage, update_postimage or delete",
    "weight": "+1 for insert and update_postimage, -1 for what is retracted",
    "trigger": "the trigger that fired; expiry for a closing pane that none asked for",
    "reason": "why it is in no result",
    "rule": "the rule that was broken",
    "element": "the row as JSON",
    "source": "the source that it came from",
    "partition": "source partition of the watermark",
    "offset": "where it was read: the path of its file, or its offset in the partition",
    "arrived_at": "arrival time",
    "restated_by": "the backfill that took it in; null if none has",
    "generation": "which rebuild of the stage",
    "kind": "stream, admission, backfill, restatement or forgetting",
    "watermark_before": "watermark before the tick",
    "drained": "whether the watermark is at the end of time: every window has ended",
    "now": "processing time of the tick",
    "elements_read": "rows that the tick read",
    "assigned": "pairs of element and window that were assigned",
    "unassigned": "elements in no window",
    "filtered": "elements that `where` left out",
    "late": "pairs whose window had expired",
    "closed": "pairs whose window was closed",
    "rejected": "rows that were dead when they landed, or on which an expression failed",
    "panes": "panes emitted",
    "retractions": "panes retracted",
    "open_cells": "cells open after the tick; null where windows are formed as they fire",
    "outgrown": "sessions that have become longer than max_session says",
    "duration_ms": "milliseconds of looking at the rows and planning; the work itself is part of the commit",
    "step": "landing step",
    "landed_at": "arrival time of the newest row",
    "files": "files of the batch; 0 where the source has none",
    "rows": "rows of the batch",
    "dead": "rows of the batch that are dead letters",
    "_step": "landing step; with `_row` the identity of the row",
    "_row": "number of the row within the step",
    "_event_time": "event time in microseconds; null where it could not be read",
    "_arrival_time": "arrival time in microseconds",
    "_partition": "source partition of the watermark",
    "_offset": "where it was read: the path of its file, or its offset in the partition",
    "_reason": "why the row is dead; null if it is not",
    "_rule": "the rule that was broken; null if the row is not dead",
    "_raw": "the text of a row that could not be read; null for any other",
}
"""What the columns hold that are not of the user's own making, by their names."""

_CURRENT = {
    "timing": "string", "pane_index": "int", "on_time_index": "int", "is_last": "boolean", "event_time": "timestamp",
    "watermark": "timestamp", "produced_at": "timestamp", "tick": "bigint",
}  # fmt: skip
_PANES = {
    "change": "string", "weight": "int", "is_first": "boolean", "trigger": "string", "watermark_percentile": "int",
}  # fmt: skip
PANE_TYPES: Mapping[str, str] = {"window_start": "timestamp", "window_end": "timestamp", **_CURRENT, **_PANES}
"""The types of the columns of `current` and `panes` that every stage has."""


def current_columns(stage: Stage) -> list[str]:
    """The columns of `current`, in order."""
    return [*stage.keys, "window_start", "window_end", *stage.result_columns, *_CURRENT]


def pane_columns(stage: Stage) -> list[str]:
    """The columns of `panes`, in order."""
    return [*current_columns(stage), *_PANES]


_TIMES = "event_time timestamp, window_start timestamp, window_end timestamp"

STAGE_DEAD_LETTERS = (
    f"reason string, rule string, {_TIMES}, element string, source string, `partition` string, `offset` string, "
    "arrived_at timestamp, tick bigint, restated_by bigint"
)
SOURCE_DEAD_LETTERS = (
    "reason string, rule string, event_time timestamp, element string, source string, `partition` string, "
    "`offset` string, arrived_at timestamp, step bigint"
)
LANDINGS = "step bigint, landed_at timestamp, files bigint, `rows` bigint, dead bigint"
TICK_COUNTERS: Mapping[str, str] = {
    "elements_read": "read", "assigned": "assigned", "unassigned": "unassigned", "filtered": "filtered",
    "late": "late", "closed": "closed", "rejected": "rejected", "panes": "panes", "retractions": "retractions",
}  # fmt: skip
"""The columns of `ticks` that are counters, and what of the counters of a tick each holds."""

TICKS = (
    "tick bigint, generation int, kind string, watermark_before timestamp, watermark timestamp, drained boolean, "
    f"now timestamp, {', '.join(f'{name} bigint' for name in TICK_COUNTERS)}, "
    "open_cells bigint, outgrown bigint, duration_ms bigint"
)
QUALITY_TABLE = "quality_results"
"""The one table that a lake has for all of its sources and stages."""
QUALITY_RESULTS = (
    "run string, stage string, suite string, rule string, severity string, rows_judged bigint, rows_broken bigint, "
    "value double, outcome string, tick bigint, version bigint, `at` timestamp"
)
QUALITY_COMMENTS: Mapping[str, str] = {
    "run": "the run that judged; stream for the stream",
    "stage": "the stage whose results were judged, or the source whose rows",
    "suite": "path of the suite",
    "rule": "the expectation",
    "severity": "critical, warning or info",
    "rows_judged": "rows, or results, that were judged",
    "rows_broken": "how many of them broke it; null where it is about a column or table as a whole",
    "value": "the number that was observed, where it is about a column or table as a whole",
    "outcome": "passed, failed, or error where the check could not be made",
    "tick": "the newest tick of the stage then; null for a source",
    "version": "landing step up to which the rows of a source were judged; generation of a stage",
    "at": "when it was judged; the newest of a run and stage count",
}
"""What the columns of that table hold."""
ENVELOPE_TYPES = (
    "_step bigint, _row bigint, _event_time bigint, _arrival_time bigint, _partition string, _offset string, "
    "_reason string, _rule string, _raw string"
)
"""The columns of `raw` around those of the source."""
