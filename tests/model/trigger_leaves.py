"""The leaves of a trigger as small state machines, and what every node of the tree can do.

Rules: docs/semantics.md#triggers, docs/semantics.md#sessions.

Where cells merge, the node of the new one is told of theirs (`on_merge`). In a tick a node is told of the cell's new
elements (`on_elements`, once), learns the watermark, is asked whether it is `ready`, and, if the root was, told that it
has fired (`on_fire`).
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from tests.model.elements import Row
from tests.model.periods import first_boundary_after
from windrow.spec.expressions import Expression
from windrow.spec.times import MINUS_INFINITY, saturating_add
from windrow.spec.triggers import all as spec
from windrow.spec.triggers.all import Domain, Trigger


@dataclass(frozen=True)
class Moment:
    """What a trigger can see of a tick: its window's end and expiry, `now`, the watermark before and after.

    `watermark_of` and `watermark_before_of` give the watermark of a percentile after and before the tick.
    When it is evaluated, also how many elements are new, and whether a condition over the results holds.
    """

    end: int
    expiry: int
    now: int
    watermark_before: int
    watermark_after: int
    watermark_of: Callable[[int], int] = lambda percentile: MINUS_INFINITY
    watermark_before_of: Callable[[int], int] = lambda percentile: MINUS_INFINITY
    new: int = 0
    holds: Callable[[Expression], bool] = lambda condition: False

    @property
    def is_complete(self) -> bool:
        return self.watermark_after >= self.end

    @property
    def is_expired(self) -> bool:
        return self.watermark_after >= self.expiry

    def clock(self, domain: Domain | int) -> int:
        """The clock of a domain, or of a percentile of the watermark."""
        if isinstance(domain, int):
            return self.watermark_of(domain)
        return self.now if domain is Domain.PROCESSING_TIME else self.watermark_after

    def clock_of_elements(self, domain: Domain) -> int:
        """The clock of a new element: in event time the watermark before the tick, as in judging."""
        return self.now if domain is Domain.PROCESSING_TIME else self.watermark_before


class Node:
    """A node in its initial state. The defaults are those of a leaf that is never ready."""

    def __init__(self, node: Any) -> None:
        self.spec = node
        self.finished = False

    def __deepcopy__(self, memo: dict[int, Any]) -> Node:
        other = copy.copy(self)
        for name, value in vars(self).items():
            if name != "spec":
                setattr(other, name, copy.deepcopy(value, memo))
        return other

    def on_merge(self, parts: Sequence[Any], moment: Moment) -> None:
        """Cells merge, and this is the fresh node of the new one: take over what it must from the nodes of the parts.

        Here: it is finished only if it was in all parts. All else stays as it is in the beginning, also for a class of
        a user's own; one whose fields merge some way has this function in its twin.
        """
        self.finished = all(part.finished for part in parts)

    def on_elements(self, rows: Sequence[Row], moment: Moment) -> None:
        """The cell got these elements in this tick."""

    def on_watermark(self, moment: Moment) -> None:
        """The watermark after the tick is known: what waited for the first one takes it as its clock."""

    def on_evaluated(self, moment: Moment) -> None:
        """The cell is evaluated in this tick: remember what has to be remembered of that."""

    def ready(self, moment: Moment) -> bool:
        return False

    def deadlines(self, moment: Moment) -> Iterator[tuple[Domain | int, int]]:
        """The clocks, and their values, at which the node must be evaluated."""
        yield from ()

    def is_timer_due(self, moment: Moment) -> bool:
        return any(moment.clock(domain) >= deadline for domain, deadline in self.deadlines(moment))

    def on_fire(self, moment: Moment) -> None:
        self.finish(moment)

    def finish(self, moment: Moment) -> None:
        """It is finished: it has fired, or the node above has by it."""
        self.finished = True

    def reset(self, moment: Moment) -> None:
        """Go back to the initial state, with all that is below."""
        self.__init__(self.spec)  # type: ignore[misc]

    def fired_path(self, moment: Moment) -> list[Trigger]:
        """The nodes from this one down to the leaf that makes it ready."""
        return [self.spec]


class Never(Node):
    """Never ready."""


class AtWatermark(Node):
    """Ready when the watermark of its percentile is at the end; after a reset behind that, at new elements."""

    def __init__(self, node: spec.AtWatermark) -> None:
        super().__init__(node)
        self.needs_elements = False

    def on_merge(self, parts: Sequence[AtWatermark], moment: Moment) -> None:
        """Rewound, to fire at the new end unless it had fired in all parts and that end was reached before."""
        had_fired = all(part.finished or part.needs_elements for part in parts)
        if had_fired and moment.watermark_before_of(self.spec.percentile) >= moment.end:
            self.finished = all(part.finished for part in parts)
            self.needs_elements = not self.finished

    def on_elements(self, rows: Sequence[Row], moment: Moment) -> None:
        self.needs_elements = False

    def ready(self, moment: Moment) -> bool:
        return self._is_reached(moment) and not self.needs_elements

    def _is_reached(self, moment: Moment) -> bool:
        return moment.watermark_of(self.spec.percentile) >= moment.end

    def deadlines(self, moment: Moment) -> Iterator[tuple[Domain | int, int]]:
        if not self.needs_elements:
            yield self.spec.percentile, moment.end

    def reset(self, moment: Moment) -> None:
        super().reset(moment)
        self.needs_elements = self._is_reached(moment)


class AtClose(Node):
    """Ready when the window expires."""

    def ready(self, moment: Moment) -> bool:
        return moment.is_expired

    def deadlines(self, moment: Moment) -> Iterator[tuple[Domain | int, int]]:
        yield Domain.EVENT_TIME, moment.expiry


class Counter(Node):
    """A leaf that counts what it has `seen` since the reset; where cells merge, their counts add up."""

    def __init__(self, node: spec.AfterCount | spec.AfterBytes | spec.AfterMatch) -> None:
        super().__init__(node)
        self.seen = 0

    def on_merge(self, parts: Sequence[Counter], moment: Moment) -> None:
        super().on_merge(parts, moment)
        self.seen = sum(part.seen for part in parts)


class AfterCount(Counter):
    """Ready at `count` elements since the reset."""

    def on_elements(self, rows: Sequence[Row], moment: Moment) -> None:
        self.seen += len(rows)

    def ready(self, moment: Moment) -> bool:
        return self.seen >= self.spec.count


class AfterBytes(Counter):
    """Ready at `bytes` bytes since the reset."""

    def on_elements(self, rows: Sequence[Row], moment: Moment) -> None:
        self.seen += sum(row.size for row in rows)

    def ready(self, moment: Moment) -> bool:
        return self.seen >= self.spec.bytes


class AfterMatch(Counter):
    """Ready when `count` elements since the reset have matched."""

    def on_elements(self, rows: Sequence[Row], moment: Moment) -> None:
        self.seen += sum(row.facts[self.spec.where] is True for row in rows)

    def ready(self, moment: Moment) -> bool:
        return self.seen >= self.spec.count


class WhenResult(Node):
    """Ready when something is new and the condition holds."""

    def ready(self, moment: Moment) -> bool:
        return moment.new > 0 and moment.holds(self.spec.condition)


class Timer(Node):
    """A leaf with a deadline that its first new element sets; `deadline_from` gives it from the element's clock."""

    def __init__(self, node: spec.AtPeriod | spec.AfterDelay) -> None:
        super().__init__(node)
        self.deadline: int | None = None
        self.waits_for_watermark = False

    def deadline_from(self, clock: int) -> int:
        raise NotImplementedError

    def on_merge(self, parts: Sequence[Timer], moment: Moment) -> None:
        """The earliest deadline; where there is none, it waits for the first watermark if one of the parts does."""
        super().on_merge(parts, moment)
        self.deadline = min((part.deadline for part in parts if part.deadline is not None), default=None)
        self.waits_for_watermark = self.deadline is None and any(part.waits_for_watermark for part in parts)

    def on_elements(self, rows: Sequence[Row], moment: Moment) -> None:
        if self.deadline is None and not self.waits_for_watermark:
            self._start(moment.clock_of_elements(self.spec.domain))

    def on_watermark(self, moment: Moment) -> None:
        if self.waits_for_watermark:
            self._start(moment.watermark_after)

    def _start(self, clock: int) -> None:
        self.waits_for_watermark = clock == MINUS_INFINITY
        self.deadline = None if self.waits_for_watermark else self.deadline_from(clock)

    def ready(self, moment: Moment) -> bool:
        return self.deadline is not None and moment.clock(self.spec.domain) >= self.deadline

    def deadlines(self, moment: Moment) -> Iterator[tuple[Domain | int, int]]:
        if self.deadline is not None:
            yield self.spec.domain, self.deadline


class AtPeriod(Timer):
    """Ready at the first boundary strictly after the clock of the first new element."""

    def deadline_from(self, clock: int) -> int:
        return first_boundary_after(self.spec, clock)


class AfterDelay(Timer):
    """Ready `delay` after the clock of the first new element; with none, as soon as the clock has moved."""

    def deadline_from(self, clock: int) -> int:
        return saturating_add(clock, self.spec.wait)
