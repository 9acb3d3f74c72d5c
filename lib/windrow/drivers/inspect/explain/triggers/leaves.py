"""The leaves of a trigger: what each counts or waits for. Rule: docs/semantics.md#triggers."""

from __future__ import annotations

from windrow.compile.triggers.periods import next_boundary
from windrow.drivers.inspect.explain.triggers.nodes import Added, Moment, Node, short_of
from windrow.spec.expressions.plain import plain
from windrow.spec.times import MINUS_INFINITY, saturating_add
from windrow.spec.words import in_units, many
from windrow.view.text.times import moment as in_words


class Never(Node):
    """Never ready."""


class AtWatermark(Node):
    """Ready when the watermark of its percentile is at the end; after a reset behind that, at new elements."""

    def __init__(self, trigger: object) -> None:
        super().__init__(trigger)
        self.needs_elements = False
        self.has_fired = False

    def on_elements(self, added: Added, moment: Moment) -> None:
        self.needs_elements = False

    def ready(self, moment: Moment) -> bool:
        return self._is_reached(moment) and not self.needs_elements

    def is_timer_due(self, moment: Moment) -> bool:
        return self.ready(moment)

    def reset(self, moment: Moment) -> None:
        super().reset(moment)
        self.needs_elements = self.has_fired = self._is_reached(moment)

    def known(self, moment: Moment) -> str:
        if self._is_reached(moment) and self.needs_elements:
            return "the window is complete and has nothing new"
        if self._is_reached(moment) and self.has_fired:
            return f"{many(moment.new, 'new element')} of the complete window"
        watermark = moment.watermark_of(self.trigger.percentile)
        of = "" if self.trigger.percentile == 100 else f" (of {self.trigger.percentile} percent of the partitions)"
        return f"{short_of(watermark, moment.end, 'the end of the window')}{of}"

    def _is_reached(self, moment: Moment) -> bool:
        return moment.watermark_of(self.trigger.percentile) >= moment.end


class AtClose(Node):
    """Ready when the window expires."""

    def ready(self, moment: Moment) -> bool:
        return moment.is_expired

    def is_timer_due(self, moment: Moment) -> bool:
        return moment.is_expired

    def known(self, moment: Moment) -> str:
        return short_of(moment.watermark, moment.expiry, "the end of the allowed lateness")


class Counter(Node):
    """A leaf that counts what it has `seen` since the reset, and is ready at `needed`."""

    def __init__(self, trigger: object) -> None:
        super().__init__(trigger)
        self.seen = 0

    @property
    def needed(self) -> int:
        return int(self.trigger.count)

    def ready(self, moment: Moment) -> bool:
        return self.seen >= self.needed


class AfterCount(Counter):
    """Ready at so many elements since the reset."""

    def on_elements(self, added: Added, moment: Moment) -> None:
        self.seen += added.number

    def known(self, moment: Moment) -> str:
        if self.ready(moment):
            enough = "" if self.seen == self.needed else f", and {self.needed:,} would do"
            return f"{many(self.seen, 'new element')}{enough}"
        return f"{self.seen:,} of {many(self.needed, 'new element')}"


class AfterBytes(Counter):
    """Ready at so many bytes since the reset."""

    @property
    def needed(self) -> int:
        return int(self.trigger.bytes)

    def on_elements(self, added: Added, moment: Moment) -> None:
        self.seen += added.bytes

    def known(self, moment: Moment) -> str:
        return f"{self.seen:,} of {many(self.needed, 'byte')} of new elements"


class AfterMatch(Counter):
    """Ready when so many elements since the reset have matched."""

    def on_elements(self, added: Added, moment: Moment) -> None:
        self.seen += added.matches.get(self.trigger.where, 0)

    def known(self, moment: Moment) -> str:
        return f"{self.seen:,} of {many(self.needed, 'new element')} with {plain(self.trigger.where)}"


class WhenResult(Node):
    """Ready when something is new and the condition holds."""

    def ready(self, moment: Moment) -> bool:
        return moment.new > 0 and moment.holds(self.trigger.condition)

    def known(self, moment: Moment) -> str:
        if moment.new == 0:
            return "nothing is new"
        holds = "holds" if moment.holds(self.trigger.condition) else "does not hold"
        return f"{plain(self.trigger.condition)} {holds}"


class Timer(Node):
    """A leaf with a deadline that its first new element sets."""

    def __init__(self, trigger: object) -> None:
        super().__init__(trigger)
        self.deadline: int | None = None
        self.waits_for_watermark = False

    def deadline_from(self, clock: int) -> int:
        raise NotImplementedError

    def on_elements(self, added: Added, moment: Moment) -> None:
        if self.deadline is None and not self.waits_for_watermark:
            self._start(moment.clock_of_elements(self.trigger.domain))

    def on_watermark(self, moment: Moment) -> None:
        if self.waits_for_watermark:
            self._start(moment.watermark)

    def ready(self, moment: Moment) -> bool:
        return self.deadline is not None and moment.clock(self.trigger.domain) >= self.deadline

    def is_timer_due(self, moment: Moment) -> bool:
        return self.ready(moment)

    def known(self, moment: Moment) -> str:
        clock = self.trigger.domain.words
        if self.deadline is None:
            return "no new element has started it"
        if self.ready(moment):
            return f"{clock} has reached {in_words(self.deadline)}"
        return f"{clock} is {in_units(self.deadline - moment.clock(self.trigger.domain))} short of " + in_words(
            self.deadline
        )

    def _start(self, clock: int) -> None:
        self.waits_for_watermark = clock == MINUS_INFINITY
        self.deadline = None if self.waits_for_watermark else self.deadline_from(clock)


class AtPeriod(Timer):
    """Ready at the first boundary strictly behind the clock of the first new element."""

    def deadline_from(self, clock: int) -> int:
        return next_boundary(self.trigger, clock)


class AfterDelay(Timer):
    """Ready so long behind the clock of the first new element."""

    def deadline_from(self, clock: int) -> int:
        return saturating_add(clock, self.trigger.wait)
