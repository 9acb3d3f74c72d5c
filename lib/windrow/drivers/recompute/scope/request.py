"""What is requested of a batch, and what it reads and may publish.

Rule: docs/semantics.md#the-watermark-of-a-batch.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from windrow.engine.clocks.clock import StageClock
from windrow.engine.tick.published import Made, Span
from windrow.spec.times import INFINITY
from windrow.store.journal.control import BACKFILL
from windrow.store.upstream.offsets import Offsets


class Mode(StrEnum):
    """What becomes of windows that have not expired by the watermark of the batch."""

    EXPIRED = "expired"
    """They wait, and the answer names them."""
    EARLY = "early"
    """They are shown as panes that are not last, which the next batch or a stream replaces."""
    WHOLE = "whole"
    """There are none: somebody asserts that the history is whole."""


@dataclass(frozen=True)
class Request:
    """Which windows of a stage are recomputed, those that start in one of the spans, and the kind of the tick."""

    spans: tuple[Span, ...]
    kind: str = BACKFILL
    mode: Mode = Mode.EXPIRED


@dataclass(frozen=True)
class Scope:
    """What a batch of a stage reads, and what it may publish.

    `offsets` are how far it reads what is upstream; `clock` is where the stage stands after that. Windows that end by
    `until` have expired, or count as such. `complete` are those of which all panes are there, where batches have made
    the stages in front; `gaps` are the event times at which panes are yet to come. `made` are the windows that may be
    published as last: the others wait, those that are not complete for another batch.
    """

    request: Request
    offsets: Offsets
    clock: StageClock
    until: int
    complete: tuple[Made, ...]
    made: tuple[Made, ...]
    gaps: tuple[Span, ...] = ()

    @property
    def spans(self) -> tuple[Span, ...]:
        return self.request.spans

    @property
    def is_whole(self) -> bool:
        """Whether nothing waits."""
        return self.until == INFINITY and not self.gaps
