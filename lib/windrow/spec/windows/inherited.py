"""Inherited windows: those of the upstream panes, kept as they are.

Rules: docs/semantics.md#windows, docs/semantics.md#stages-that-read-stages.
"""

from __future__ import annotations

from windrow.spec.fields.typed import specification
from windrow.spec.windows.base import WindowFunction


@specification
class InheritedWindows(WindowFunction):
    """The window of an element is that of the pane that it is, whatever its event time; a retraction's is the old one.

    They neither merge nor split, also where the upstream's do. Only a stage that reads a stage can have them.
    """

    NAME = "inherited"
    FOLLOWS_PANES = True

    @property
    def overlap(self) -> str | None:
        return "windows are those of the panes that are read, which may overlap"

    def words(self) -> str:
        return "those of the panes that are read, as they are"
