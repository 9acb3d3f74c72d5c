"""The life of one window of one key: its elements, its ticks, its panes, and what is to be said of them.

Plain values, read and computed by `windrow.drivers.inspect.explain`; text, JSON, HTML and drawings are made from them.
All times are microseconds; null is a time that is not known.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

IN_RESULT = "in the result"
"""The place of an element that the window's results count. Others are the reasons of dead letters, or as below."""
FILTERED, NOT_READ, COUNTED_BY_BATCH = "filtered", "not read yet", "counted by a backfill"
NOT_KNOWN = "not known here"
"""The place of a row of which only Spark can say what it is."""


@dataclass(frozen=True)
class LifeElement:
    """A row of the key whose event time lies in the window, or is not known, and what became of it.

    `tick` is the one that read it (null: none has), `processing_time` the clock of that tick. `place` is IN_RESULT, a
    reason of dead letters, FILTERED, NOT_READ, NOT_KNOWN or COUNTED_BY_BATCH; `why` says more, in words. `step` and
    `row` tell it from the other rows of what it was read from (`source`, a source or a stage), `offset` is its file or
    its offset.
    `values` are what the aggregates take of it, `restated_by` the backfill that counted it although it was late.
    """

    source: str
    place: str
    event_time: int | None
    arrival_time: int | None
    tick: int | None
    processing_time: int | None
    step: int
    row: int | None
    partition: str | None
    offset: str | None
    weight: int = 1
    why: str = ""
    values: Mapping[str, Any] = field(default_factory=dict)
    columns: Mapping[str, Any] = field(default_factory=dict)
    restated_by: int | None = None

    @property
    def is_late(self) -> bool:
        """Whether it came when its window had expired, or was closed."""
        return self.place in ("late", "closed")

    @property
    def is_counted(self) -> bool:
        """Whether the results count it: by a tick, or since by a backfill."""
        return self.place in (IN_RESULT, COUNTED_BY_BATCH) or self.restated_by is not None

    @property
    def label(self) -> str:
        """What a drawing writes beside it: its values."""
        return ", ".join(f"{value:g}" if isinstance(value, float) else str(value) for value in self.values.values())


@dataclass(frozen=True)
class LifePane:
    """A pane of the window, or the retraction of one. `value` are its results, by name.

    `window` is its own: sessions that merge have shown panes of others. `processing_time` is the clock of its tick.
    `changed` are the results that are not those of the pane before, with both values. `computed` are the results that
    follow from the rows, as far as they are known, and `differs` the names of those that are not what was shown.
    """

    tick: int
    processing_time: int | None
    kind: str
    change: str
    timing: str
    trigger: str
    index: int
    window: tuple[int, int]
    weight: int
    is_last: bool
    value: Mapping[str, Any]
    changed: Mapping[str, tuple[Any, Any]] = field(default_factory=dict)
    computed: Mapping[str, Any] = field(default_factory=dict)
    differs: Sequence[str] = ()

    @property
    def is_retraction(self) -> bool:
        return self.weight < 0


@dataclass(frozen=True)
class LifeTick:
    """A tick that concerned the window: its clocks, what it brought by place, and why it fired or did not, in words."""

    tick: int
    kind: str
    processing_time: int | None
    watermark_before: int
    watermark: int
    brought: Mapping[str, int]
    why: Sequence[str]
    fired: bool = False


@dataclass(frozen=True)
class WatermarkPoint:
    """The watermark of the stage after a tick."""

    processing_time: int
    watermark: int
    tick: int


@dataclass(frozen=True)
class Relative:
    """A window of a stage that the explained one reads, or that reads it, with its panes, in the order of ticks."""

    stage: str
    key: Mapping[str, Any]
    window: tuple[int, int]
    panes: Sequence[LifePane]


@dataclass(frozen=True)
class Life:
    """All that is known of one window of one key.

    `window` is null where there is no such window; `others` are the other windows of the key that hold the time.
    `rules` are what the stage says of itself, in words. `missing` says where rows are that one might look for here,
    `differences` what the rows say otherwise than the journal, `checked` what was compared, `unknown` what was not.
    `upstream` are the windows whose panes are its elements, `behind` those of stages that read it. `clears` says that
    the stage discards what it has shown, `decided` that it is known which rows are elements of the window.
    """

    pipeline: str
    stage: str
    key: Mapping[str, Any]
    at: int
    window: tuple[int, int] | None
    generation: int
    tick: int
    watermark: int
    rules: Sequence[tuple[str, str]] = ()
    others: Sequence[tuple[int, int]] = ()
    elements: Sequence[LifeElement] = ()
    ticks: Sequence[LifeTick] = ()
    panes: Sequence[LifePane] = ()
    watermarks: Sequence[WatermarkPoint] = ()
    corrections: Sequence[str] = ()
    upstream: Sequence[Relative] = ()
    behind: Sequence[Relative] = ()
    missing: Sequence[str] = ()
    checked: Sequence[str] = ()
    differences: Sequence[str] = ()
    unknown: Sequence[str] = ()
    clears: bool = False
    decided: bool = True

    @property
    def windows(self) -> Sequence[tuple[int, int]]:
        """The bounds of the window, and of those that became it, each once."""
        bounds = [] if self.window is None else [self.window]
        return list(dict.fromkeys([*bounds, *(pane.window for pane in self.panes)]))

    def to_mapping(self) -> dict[str, Any]:
        """For machines: times are microseconds."""
        from windrow.view.explain.machines import mapping_of

        return mapping_of(self)

    def text(self, width: int) -> str:
        """For a terminal of so many columns."""
        from windrow.view.explain.text import life_text

        return life_text(self, width)

    def svg(self) -> str:
        """Its picture, event time to the right and processing time upward."""
        from windrow.view.pictures.drawing import svg
        from windrow.view.pictures.lives import picture_of

        return svg(picture_of(self))

    def _repr_html_(self) -> str:
        from windrow.view.explain.page import life_html

        return life_html(self)
