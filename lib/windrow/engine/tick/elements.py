"""Raw rows as elements, and as pairs of element and window that know which row they come from."""

from __future__ import annotations

from collections.abc import Callable

from pyspark.sql import DataFrame

from windrow.compile.columns import EVENT_TIME, WINDOW_END, WINDOW_START
from windrow.compile.elements import envelope
from windrow.compile.stage import CompiledStage
from windrow.engine.frames import apply, over
from windrow.engine.tick.cogroups import united
from windrow.engine.tick.inputs import parted

PAIR = (envelope.STEP, envelope.ROW, WINDOW_START, WINDOW_END)
"""What identifies a pair of element and window: landing step, row, and the bounds of the window."""

Pairing = Callable[[DataFrame, str], DataFrame]
"""Elements once for each of their windows, by the column of their event time."""


def elements_of(stage: CompiledStage, rows: DataFrame, also: tuple[str, ...] = ()) -> DataFrame:
    """The elements of raw rows, with these columns more."""
    parts = {}
    for name, frame in parted(stage, rows).items():
        elements = stage.of_input(name).elements
        parts[name] = apply(elements.elements(elements.judged(over(frame)), also), frame)
    return united(stage, parts)


def pairs_of_rows(stage: CompiledStage, rows: DataFrame, pairs: Pairing) -> DataFrame:
    """Raw rows as elements, once for every window that they fall in, with their identity."""
    parts = {name: pairs_of_input(stage.of_input(name), frame, pairs) for name, frame in parted(stage, rows).items()}
    return united(stage, parts)


def pairs_of_input(stage: CompiledStage, rows: DataFrame, pairs: Pairing, also: tuple[str, ...] = ()) -> DataFrame:
    """The same for the rows of one input."""
    judged = stage.elements.judged(over(rows))
    elements = stage.elements.elements(judged, (envelope.STEP, envelope.ROW, *also))
    return pairs(apply(elements, rows), EVENT_TIME)
