"""The families of windows. A new one is a file beside this one, and a line here."""

from __future__ import annotations

from windrow.compile.stage import CompiledStage
from windrow.engine.windows.by_window import ByWindow, Inherited
from windrow.engine.windows.merging import Merging
from windrow.engine.windows.records import Records
from windrow.engine.windows.sliced import Overlapping, Sliced, Unsliced
from windrow.engine.windows.strategy import WindowStrategy

FAMILIES: tuple[type[WindowStrategy], ...] = (Merging, Records, Sliced, Overlapping, Unsliced, Inherited, ByWindow)
"""The first that fits is that of a stage."""


def strategy_of(stage: CompiledStage) -> WindowStrategy:
    """The strategy of a stage's windows."""
    return next(found for family in FAMILIES if (found := family.of(stage)) is not None)
