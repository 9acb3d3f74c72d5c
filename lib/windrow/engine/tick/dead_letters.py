"""The pairs of element and window that are in no result: late, for a closed cell, or of a row whose expression failed.

Rule: docs/semantics.md#where-every-row-is.

Each function gives rows of one shape: `reason`, `event_time`, `window_start`, `window_end`
(null where no window is concerned), the envelope, and `element`, a struct of all other columns of the row: whatever
their names are, none is in the way of what windrow adds.
"""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import DataFrame

from windrow.compile.columns import KEY, WINDOW_END, WINDOW_START
from windrow.compile.elements import envelope
from windrow.compile.elements.elements import FAILED, KEPT
from windrow.compile.sql.columns import Column, case, col, lit, null, struct
from windrow.compile.stage import CompiledStage
from windrow.engine.frames import select, where
from windrow.engine.tick.admission import Admission
from windrow.engine.windows.assign import assign
from windrow.engine.windows.registry import strategy_of

ELEMENT = "element"


def at_landing(rows: DataFrame) -> DataFrame:
    """The rows that were dead when they landed, each once, whatever a stage makes of it."""
    element = struct(**{name: col(name) for name in rows.columns if name not in envelope.ENVELOPE})
    own = {**{name: col(name) for name in envelope.ENVELOPE}, ELEMENT: element}
    return _letters(select(where(rows, ~_alive()), own), col(envelope.REASON), null("bigint"), null("bigint"))


def failed(stage: CompiledStage, judged: DataFrame) -> DataFrame:
    """The rows on which an expression of the stage failed, or whose event time is none."""
    rows = _packed(stage, where(judged, _alive() & col(FAILED)))
    return _letters(rows, stage.elements.why, null("bigint"), null("bigint"))


def late(stage: CompiledStage, judged: DataFrame, admission: Admission) -> DataFrame:
    """The pairs whose window had expired before the tick, or was made by a backfill before they landed."""
    window_ids = admission.late_window_ids(stage.windows, col(envelope.EVENT_TIME))
    pairs = assign(stage.windows, _packed(stage, where(judged, _works())), window_ids)
    return _letters(pairs, lit("late"), col(WINDOW_START), col(WINDOW_END))


def late_by_cells(stage: CompiledStage, judged: DataFrame, cells: DataFrame, admission: Admission) -> DataFrame | None:
    """The pairs that are late because their windows would merge with one that has expired; None for none."""
    found = strategy_of(stage).late_by_cells(_keyed(stage, judged), cells, admission)
    return None if found is None else _letters(found, lit("late"), col(WINDOW_START), col(WINDOW_END))


def closed(stage: CompiledStage, judged: DataFrame, cells: DataFrame, admission: Admission) -> DataFrame:
    """The pairs whose cell is closed: its trigger has finished for good."""
    found = strategy_of(stage).closed_out(_keyed(stage, judged), cells, admission)
    return _letters(found, lit("closed"), col(WINDOW_START), col(WINDOW_END))


def rule_of(reason: Column) -> Column:
    """What an element or a pair broke that is dead for that reason, in words; those of landing say it themselves."""
    return case(
        (reason == "late", "the window had not expired when the element came"),
        (reason == "closed", "the trigger of the window had not finished"),
        otherwise="every expression of the stage can be evaluated on the row, and its windows hold it",
    )


def _keyed(stage: CompiledStage, judged: DataFrame) -> DataFrame:
    return _packed(stage, where(judged, _works()), {KEY: stage.elements.key})


def _packed(stage: CompiledStage, judged: DataFrame, also: Mapping[str, Column] | None = None) -> DataFrame:
    """Judged rows with the columns of windrow, and those of the row in one struct."""
    of_row = [name for name in judged.columns if name in stage.elements.row_columns or not name.startswith("_")]
    own = {name: col(name) for name in judged.columns if name.startswith("_")}
    return select(judged, {**own, ELEMENT: struct(**{name: col(name) for name in of_row}), **(also or {})})


def _alive() -> Column:
    return col(envelope.REASON).is_null()


def _works() -> Column:
    return _alive() & col(KEPT) & ~col(FAILED)


def _letters(rows: DataFrame, reason: Column, start: Column, end: Column) -> DataFrame:
    own = {"reason": reason, "event_time": col(envelope.EVENT_TIME), WINDOW_START: start, WINDOW_END: end}
    return select(rows, {**own, **{name: col(name) for name in (*envelope.ENVELOPE, ELEMENT)}})
