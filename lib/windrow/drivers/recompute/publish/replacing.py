"""The transitions by which recomputed windows take the place of those that a stage shows.

Rules: docs/semantics.md#backfill-and-reconcile, docs/semantics.md#late-rows.

`streams` and `late` say whether a stream has shown panes of these windows, or could have.
"""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import DataFrame

from windrow.compile.columns import CELL, EMITS, EXPIRED, ONE_PANE, OPENED, PANES, STATE, WINDOW_END
from windrow.compile.panes.event_times import end_of_window, of_pane
from windrow.compile.panes.panes import BACKFILL, EARLY, LATE, ON_TIME, PANE_FIELDS, PaneColumns, pane_struct
from windrow.compile.sql.columns import (
    Column,
    bigint,
    call,
    case,
    coalesce,
    col,
    empty_array,
    lit,
    null,
    struct,
    when,
)
from windrow.compile.stage import CompiledStage
from windrow.engine.final import PANE_TIME, columns_of_batch
from windrow.engine.frames import group, select
from windrow.engine.windows.registry import strategy_of

WAITS = "waits"
"""Of a recomputed window: it has not expired by the watermark of the batch."""


def all_inserted(stage: CompiledStage, windows: DataFrame) -> DataFrame:
    """Recomputed windows as `transitions` takes them, where nothing is shown that they could take the place of."""
    own = {name: col(name) for name in (*CELL, WAITS)}
    batch = struct(**{name: col(f"v_{name}") for name in columns_of_batch(stage)})
    return select(windows, {**own, "batch": batch, "gone": null(gone_type(stage))})


def with_gone(stage: CompiledStage, changes: DataFrame, standing: DataFrame) -> DataFrame:
    """The windows that differ, with `gone`: the retractions of the panes that stand in each, by index."""
    retracted = pane_struct(
        PaneColumns(
            change=lit("delete"), weight=-1, timing=col("timing"), pane_index=col("pane_index"),
            on_time_index=col("on_time_index"), is_last=col("is_last"), trigger=col("trigger"),
            percentile=col("watermark_percentile"), values={name: col(f"v_{name}") for name in stage.shown.emitted},
            event_time=col("event_time") if stage.stage.keeps_event_times else None,
        )
    )  # fmt: skip
    touched = standing.join(changes.select(*CELL), on=list(CELL), how="left_semi")
    gone = group(touched, CELL, {"gone": call("array_sort", call("collect_list", _ordered(retracted)))})
    return changes.join(gone, on=list(CELL), how="left")


def gone_type(stage: CompiledStage) -> str:
    """The Spark type of the retractions of a window, as `with_gone` gives them."""
    return f"array<struct<index: int, pane: {stage.pane_type}>>"


def retractions(stage: CompiledStage, rows: DataFrame) -> DataFrame:
    """The transitions that retract what stands in each window, as `with_gone` gives it."""
    return _transitions(rows, null(stage.cells.state_type), _gone_panes(stage))


def transitions(stage: CompiledStage, rows: DataFrame, streams: bool, watermark: int) -> DataFrame:
    """Retract what stands in each window, and insert what is right.

    A window that `waits` is shown as what it is so far, at that watermark, and not as last. What takes the place of
    such a pane changes it, by the rules of accumulation; of a stage whose panes clear it is retracted.
    """
    replaces = lit(False) if streams else _replaces_early(stage)
    inserted = _inserted(stage, streams, replaces, watermark)
    before = case((replaces, _preimages(stage)), otherwise=_gone_panes(stage))
    panes = case((col("batch").is_null(), _gone_panes(stage)), otherwise=call("concat", before, inserted))
    is_last = col("batch").is_not_null() & ~col(WAITS)
    return _transitions(rows, when(is_last, _retained(stage)), panes)


def first_transitions(stage: CompiledStage, windows: DataFrame) -> DataFrame:
    """Insert recomputed windows as the first panes of a stage, of which none waits and each has one row."""
    event_time = of_pane(col(f"v_{PANE_TIME}")) if stage.stage.keeps_event_times else None
    pane = pane_struct(
        PaneColumns(
            change=lit("insert"), weight=1, timing=lit(ON_TIME), pane_index=lit(0), on_time_index=lit(0),
            is_last=lit(True), trigger=lit(BACKFILL), percentile=null("int"),
            values={name: col(f"v_{name}") for name in stage.panes.values}, event_time=event_time,
        )
    )  # fmt: skip
    own = {name: col(name) for name in CELL}
    panes = {ONE_PANE: pane, EMITS: lit(True), EXPIRED: lit(True), OPENED: lit(True)}
    return select(windows, {**own, **panes, STATE: _retained(stage)})


def _transitions(rows: DataFrame, state: Column, panes: Column) -> DataFrame:
    own = {name: col(name) for name in CELL}
    return select(rows, {**own, STATE: state, PANES: panes, EXPIRED: lit(True), OPENED: lit(True)})


def _gone_panes(stage: CompiledStage) -> Column:
    return coalesce(col("gone", "pane"), empty_array(stage.pane_type))


def _replaces_early(stage: CompiledStage) -> Column:
    """Whether what stands is a pane that a batch has shown early, and that a later one of the window changes."""
    if stage.shown.row_identity:
        return lit(False)
    return coalesce(~Column("element_at(gone, -1).pane.is_last"), False)


def _preimages(stage: CompiledStage) -> Column:
    """What stands, as it is retracted in front of what changes it; nothing where panes only accumulate."""
    if not stage.stage.is_retracting:
        return empty_array(stage.pane_type)
    names = [*PANE_FIELDS, *(["event_time"] if stage.stage.keeps_event_times else []), "result"]
    changed = {name: lit("update_preimage") if name == "change" else Column(f"one.{name}") for name in names}
    return Column(f"transform({_gone_panes(stage).text}, one -> {struct(**changed).text})")


def _retained(stage: CompiledStage) -> Column:
    """What a window leaves behind that has expired: its bounds, where windows merge, so that none overlaps it later."""
    return strategy_of(stage).left_behind()


def _ordered(pane: Column) -> Column:
    return Column(f"named_struct('index', pane_index, 'pane', {pane.text})")


def _inserted(stage: CompiledStage, late: bool, replaces: Column, watermark: int) -> Column:
    """The panes of the recomputed window, as an array."""
    return stage.panes.inserted(col("batch"), lambda values: _pane(stage, late, replaces, watermark, values))


def _pane(stage: CompiledStage, late: bool, replaces: Column, watermark: int, values: Mapping[str, Column]) -> Column:
    """The index goes on. It is on time where no pane was before that was not early, and late behind a stream."""
    index = coalesce(Column("(element_at(gone, -1).index + 1)"), 0)
    on_time = Column("element_at(gone, -1).pane.on_time_index")
    is_early = col(WAITS) & (col(WINDOW_END) > bigint(watermark))
    timing = lit(LATE) if late else case((is_early, EARLY), (on_time.is_null(), ON_TIME), otherwise=LATE)
    event_time = end_of_window() if late else of_pane(col("batch", "event_time"))
    return pane_struct(
        PaneColumns(
            change=case((replaces, "update_postimage"), otherwise="insert"),
            weight=1,
            timing=timing,
            pane_index=index,
            on_time_index=when(~is_early, coalesce(on_time + 1, 0)),
            is_last=~col(WAITS),
            trigger=lit(BACKFILL),
            percentile=null("int"),
            values=values,
            event_time=event_time if stage.stage.keeps_event_times else None,
        )
    )
