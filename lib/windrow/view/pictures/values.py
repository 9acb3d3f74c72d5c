"""What a picture of time shows, as plain values. Times are microseconds.

The model is the figures of Akidau et al., The Dataflow Model (VLDB 2015): elements are dots at their event time and
their processing time, the watermark is a line, and a window is a box that grows pane by pane.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property


@dataclass(frozen=True)
class Element:
    """An element where it happened and where it arrived, with the tick that has read it.

    `is_late`: it is behind the watermark that it met. `is_dead`: it is in no result. A `label` of at most two letters
    stands in its circle. `key` is its key as text.
    """

    event_time: int
    processing_time: int
    tick: int | None = None
    is_late: bool = False
    label: str = ""
    is_dead: bool = False
    key: str = ""


@dataclass(frozen=True)
class WatermarkPoint:
    """From this processing time (or tick) on the watermark is `watermark`, which may be infinite."""

    processing_time: int
    watermark: int
    tick: int | None = None


@dataclass(frozen=True)
class Window:
    """A window that is drawn where no pane shows it: it is open. Its end is excluded; both bounds may be infinite."""

    start: int
    end: int
    key: str = ""


@dataclass(frozen=True)
class Pane:
    """What a firing shows of a window, or retracts: `value` is its results as text.

    `timing` is early, on_time or late.
    """

    start: int
    end: int
    processing_time: int
    tick: int | None = None
    timing: str = "on_time"
    value: str = ""
    is_retraction: bool = False
    key: str = ""

    @property
    def window(self) -> Window:
        return Window(self.start, self.end, self.key)


@dataclass(frozen=True)
class PaneCount:
    """Panes of one timing that were shown at the same time, of windows that end at the same time."""

    timing: str
    end: int
    shown_at: int
    number: int


@dataclass(frozen=True)
class Density:
    """How many elements there are in each place of a grid: `counts` by column and row, from the first times on.

    `late` counts those among them that were behind the watermark.
    """

    event_times: tuple[int, int]
    processing_times: tuple[int, int]
    columns: int
    rows: int
    counts: Mapping[tuple[int, int], int]
    late: Mapping[tuple[int, int], int] = field(default_factory=dict)

    def event_time_of(self, column: float) -> int:
        """The first event time of a column."""
        first, last = self.event_times
        return first + round((last - first) * column / self.columns)

    def processing_time_of(self, row: float) -> int:
        """The first processing time of a row."""
        first, last = self.processing_times
        return first + round((last - first) * row / self.rows)

    @property
    def number(self) -> int:
        """Of all elements."""
        return sum(self.counts.values())


@dataclass(frozen=True)
class Picture:
    """Everything that is drawn.

    `by_tick`: the ticks stand above each other, one row each, as their processing times do not tell them apart; every
    element, point and pane then has its tick. `clears`: a pane holds only what is new, so that the box of a window
    begins anew at each. `density` stands for elements that are too many, all of one key. `pane_counts` are dots at the
    ends of windows, for panes that are too many to be boxes.
    """

    title: str
    elements: Sequence[Element] = ()
    watermark: Sequence[WatermarkPoint] = ()
    windows: Sequence[Window] = ()
    panes: Sequence[Pane] = ()
    density: Density | None = None
    pane_counts: Sequence[PaneCount] = ()
    by_tick: bool = False
    clears: bool = False
    note: str = ""

    @cached_property
    def keys(self) -> Sequence[str]:
        """The keys, in the order in which they come; one without a name where nothing has a key."""
        named = [one.key for many in (self.elements, self.panes, self.windows) for one in many]
        return list(dict.fromkeys(named)) or [""]

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to see."""
        return not (self.elements or self.panes or self.windows or self.density or self.pane_counts)

    def of_key(self, key: str) -> Picture:
        """What concerns one key."""
        return replace(
            self,
            elements=[one for one in self.elements if one.key == key],
            panes=[one for one in self.panes if one.key == key],
            windows=[one for one in self.windows if one.key == key],
        )

    def _repr_svg_(self) -> str:
        """For notebooks."""
        from windrow.view.pictures.drawing import svg

        return svg(self)
