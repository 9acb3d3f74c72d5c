"""Dead letters of a tick as rows of the journal."""

from __future__ import annotations

from pyspark.sql import DataFrame

from windrow.compile.columns import WINDOW_END, WINDOW_START
from windrow.compile.elements import envelope
from windrow.compile.panes.log_rows import FIRST
from windrow.compile.panes.panes import as_timestamp
from windrow.compile.sql.columns import changing, col, lit, null, struct, when
from windrow.compile.sql.json import as_json
from windrow.compile.stage import CompiledStage
from windrow.engine.frames import select
from windrow.spec.stages.graph import reads_of
from windrow.spec.stages.keys import LogColumn
from windrow.store.journal.control import DEAD_LETTER, Control

DEAD_LETTER_TYPE = (
    "struct<reason: string, event_time: bigint, element: string, source: string, `partition`: string, "
    "`offset`: string, arrived_at: bigint, step: bigint, `row`: bigint>"
)


def letter_rows(stage: CompiledStage, name: str, letters: DataFrame, control: Control) -> DataFrame:
    """The dead letters of an input, as the tick of the control row leaves them."""
    dead_letter = struct(
        reason=col("reason"),
        event_time=col("event_time"),
        element=as_json(col("element")),
        source=lit(reads_of(stage.shown)[name]),
        partition=col(envelope.PARTITION),
        offset=col(envelope.OFFSET),
        arrived_at=col(envelope.ARRIVAL_TIME),
        step=col(envelope.STEP),
        row=col(envelope.ROW),
    )
    own = {
        **{name: null("boolean") for name in FIRST},
        WINDOW_START: as_timestamp(col(WINDOW_START)),
        WINDOW_END: as_timestamp(col(WINDOW_END)),
        "tick": changing(control.tick, col(envelope.STEP)),
        LogColumn.CLOSED: when(col("reason") == "closed", True),
        LogColumn.KIND: lit(DEAD_LETTER),
        LogColumn.BUCKET: stage.windows.bucket(col(WINDOW_START)),
        LogColumn.DEAD_LETTER: dead_letter,
    }
    return select(letters, own)
