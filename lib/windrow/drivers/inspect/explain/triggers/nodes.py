"""What a node of a trigger can see of a tick, and what every node can say of itself.

Rule: docs/semantics.md#triggers.

In a tick a node is told of the window's new elements (`on_elements`), learns the watermark (`on_watermark`), is
evaluated (`ready`), and, if the trigger fires, told so (`on_fire`). Windows whose cells merge are not followed here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from windrow.spec.expressions import Expression
from windrow.spec.times import INFINITY, MINUS_INFINITY
from windrow.spec.triggers.all import Domain
from windrow.spec.words import in_units


@dataclass(frozen=True)
class Moment:
    """A tick as the trigger of a window sees it. All times are microseconds.

    `percentiles` are the watermarks of the percentiles below 100 after the tick. `new` is how many elements no pane has
    shown yet; `holds` says whether a condition holds over the results.
    """

    end: int
    expiry: int
    now: int
    watermark_before: int
    watermark: int
    percentiles: Mapping[int, int] = field(default_factory=dict)
    new: int = 0
    holds: Callable[[Expression], bool] = lambda condition: False

    @property
    def is_expired(self) -> bool:
        return self.watermark >= self.expiry

    def watermark_of(self, percentile: int) -> int:
        return self.watermark if percentile == 100 else self.percentiles.get(percentile, self.watermark)

    def clock(self, domain: Domain) -> int:
        return self.now if domain is Domain.PROCESSING_TIME else self.watermark

    def clock_of_elements(self, domain: Domain) -> int:
        """The clock at a new element: in event time the watermark before the tick."""
        return self.now if domain is Domain.PROCESSING_TIME else self.watermark_before


@dataclass(frozen=True)
class Added:
    """The elements that a window gets in a tick: how many, their bytes, and how many meet each condition."""

    number: int = 0
    bytes: int = 0
    matches: Mapping[Expression, int] = field(default_factory=dict)


class Node:
    """A node in its initial state. The defaults are those of a leaf that is never ready."""

    def __init__(self, trigger: Any) -> None:
        self.trigger = trigger
        self.finished = False

    def on_elements(self, added: Added, moment: Moment) -> None:
        """The window got these elements in this tick."""

    def on_watermark(self, moment: Moment) -> None:
        """The watermark after the tick is known."""

    def on_evaluated(self, moment: Moment) -> None:
        """The trigger is evaluated in this tick: remember what has to be remembered of that."""

    def ready(self, moment: Moment) -> bool:
        return False

    def is_timer_due(self, moment: Moment) -> bool:
        """Whether the trigger must be evaluated though the window got nothing."""
        return False

    def on_fire(self, moment: Moment) -> None:
        self.finish(moment)

    def finish(self, moment: Moment) -> None:
        self.finished = True

    def reset(self, moment: Moment) -> None:
        """Go back to the initial state, with all that is below."""
        self.__init__(self.trigger)  # type: ignore[misc]

    def path(self, moment: Moment) -> Iterator[Node]:
        """The nodes from this one, which is ready, down to the leaf that makes it so."""
        yield self

    def known(self, moment: Moment) -> str:
        """What the leaf knows in a tick, in words: what there is of what it waits for."""
        return "it never fires"

    def waits_for(self, moment: Moment) -> list[str]:
        """What is not there yet, in words."""
        return [self.known(moment)]


def short_of(watermark: int, time: int, what: str) -> str:
    """`the watermark is 2h 14m short of the end`, or that it has reached it."""
    if watermark == MINUS_INFINITY:
        return "the watermark is not known yet"
    if watermark >= time:
        return f"the watermark has reached {what}"
    if time == INFINITY:
        return f"{what} is the end of time"
    return f"the watermark is {in_units(time - watermark)} short of {what}"


def leaf_of(trigger: Node, moment: Moment) -> Node:
    """The leaf that makes a trigger ready."""
    *_, leaf = trigger.path(moment)
    return leaf
