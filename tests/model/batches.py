"""A stage that batches make over what has landed, with a watermark of their own.

Rule: docs/semantics.md#the-watermark-of-a-batch.

The model of a lake without a stream: elements land, batches are run over the windows that start in an interval, and
what is left waits for the next batch.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from tests.model.assign import Window
from tests.model.batch import batch
from tests.model.elements import LATE, DeadLetter, Element, Row, read
from tests.model.merge import meets
from tests.model.moments import expiry
from tests.model.panes import Pane
from tests.model.state import CellKey
from tests.model.stream import Stream
from tests.model.typed_stage import TypedStage
from windrow.spec.stages.stage import Stage
from windrow.spec.times import INFINITY


@dataclass(frozen=True)
class Made:
    """The windows that a batch has published: those that start in [start, end) and had expired by its watermark."""

    start: int
    end: int
    watermark: int

    def holds(self, typed: TypedStage, window: Window) -> bool:
        return self.start <= window.start < self.end and expiry(typed, window) <= self.watermark


@dataclass
class Batches:
    """A stage of a lake that has batches only. `published` are the last panes, `dead` the pairs that came too late."""

    stage: Stage
    schema: Mapping[str, str]
    published: dict[CellKey, Pane] = field(default_factory=dict)
    dead: list[DeadLetter] = field(default_factory=list)
    made: list[Made] = field(default_factory=list)
    _landed: list[Element] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._typed = TypedStage(self.stage, self.schema)
        self._beside = Stream(self.stage, self.schema)  # stands where a stream would that reads the same elements

    @property
    def watermark(self) -> int:
        return self._beside.clock.watermark_after

    def land(self, elements: Iterable[Element], now: int | None = None, watermark: int | None = None) -> None:
        """Elements land, and move the watermark as they would move that of a stream."""
        elements = tuple(elements)
        self._beside.tick(elements, now, watermark)
        for row in read(self._typed, elements, 0).rows:
            late = [window for window in row.windows if self._is_published(row, window)]
            self.dead += [DeadLetter(LATE, row.element, row.event_time, window) for window in late]
            if len(late) < len(row.windows) and not any(row.element is one for one in self._landed):
                self._landed.append(row.element)

    def run(self, start: int, end: int, whole: bool = False) -> list[Pane]:
        """A batch over the windows that start in [start, end): publishes those that have expired, gives the others.

        What batches before it have published stays as it is: to count late rows is a restatement.
        """
        made = Made(start, end, INFINITY if whole else self.watermark)
        requested = {(p.key, p.window): p for p in self._results() if start <= p.window.start < end}
        requested = {
            key: pane for key, pane in requested.items() if not any(m.holds(self._typed, key[1]) for m in self.made)
        }
        self.published |= {key: pane for key, pane in requested.items() if made.holds(self._typed, key[1])}
        self.made.append(made)
        return [pane for key, pane in requested.items() if key not in self.published]

    def _results(self) -> list[Pane]:
        return list(batch(self.stage, self.schema, self._landed).panes)

    def _is_published(self, row: Row, window: Window) -> bool:
        """Windows that merge are judged before they do: by the proto-window, and by what it would have merged with."""
        if any(made.holds(self._typed, window) for made in self.made):
            return True
        merges = self.stage.window.MERGES
        return merges and any(key == row.key and meets(self.stage.window, window, w) for key, w in self.published)
