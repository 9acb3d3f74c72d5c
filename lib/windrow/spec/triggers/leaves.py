"""The leaves of triggers: what a window waits for. Rule: docs/semantics.md#triggers."""

from __future__ import annotations

from collections.abc import Mapping

from windrow.spec.aggregates import Aggregate, CountIf, TotalSize
from windrow.spec.expressions import Expression
from windrow.spec.expressions.plain import plain as in_words
from windrow.spec.fields.kinds import DURATION, EXPRESSION, PERCENTILE, POSITIVE_DURATION, POSITIVE_INTEGER, TIME, ZONE
from windrow.spec.fields.typed import (
    Converted,
    DurationLike,
    ExpressionLike,
    TimeLike,
    converted,
    plain,
    specification,
)
from windrow.spec.times import DAY, format_duration, format_time
from windrow.spec.triggers.base import Trigger
from windrow.spec.triggers.domains import DOMAIN, Domain, DomainLike
from windrow.spec.triggers.moments import Moment


@specification
class AtWatermark(Trigger):
    """Ready when the watermark has reached the window's end; after a reset behind that, at every new element.

    The watermark of a percentile is that of the stage, or ahead of it: so many percent of the source's partitions that
    are not idle have reached it.
    """

    NAME = "at_watermark"
    percentile: int = plain(PERCENTILE, default=100)

    @property
    def percentiles(self) -> tuple[int, ...]:
        return () if self.percentile == 100 else (self.percentile,)

    def earliest_ready(self) -> Moment:
        return Moment.AT_WATERMARK if self.percentile == 100 else Moment.BEFORE_WATERMARK

    def sees_end_only(self) -> bool:
        return self.percentile == 100

    def is_watermark(self) -> bool:
        return self.percentile == 100

    def words(self) -> str:
        watermark = "" if self.percentile == 100 else f" of {self.percentile} percent of the partitions"
        return f"when the watermark{watermark} reaches the end of the window"

    def repeated_lines(self) -> list[str]:
        return [f"{self.words()}, and then at every tick that brings new elements"]


@specification
class AtPeriod(Trigger):
    """Ready at the first `reference + k * period` strictly after the clock at the first new element.

    Whole days and longer follow the local time of `zone`. The clock is that of `domain`.
    """

    NAME = "at_period"
    YAML_HINTS = {"every": "period", "interval": "period"}
    period: Converted[int, DurationLike] = converted(POSITIVE_DURATION)
    reference: Converted[int, TimeLike] = converted(TIME, default=0)
    zone: str = plain(ZONE, default="UTC")
    domain: Converted[Domain, DomainLike] = converted(DOMAIN, default=Domain.PROCESSING_TIME)

    @property
    def is_local(self) -> bool:
        """True where the boundaries follow the zone's local time."""
        return self.zone != "UTC" and self.period % DAY == 0

    def words(self) -> str:
        start = "" if self.reference == 0 else f", counted from {format_time(self.reference)}"
        zone = f" in {self.zone}" if self.is_local else ""
        period = f"{format_duration(self.period)}{zone}"
        return f"at the next full {period} after a new element, by {self.domain.words}{start}"


@specification
class AfterDelay(Trigger):
    """Ready when the clock of `domain` has reached its value at the first new element plus `delay`.

    A delay of 0 is ready when the clock has moved on at all, so in a tick behind that of the element.
    """

    NAME = "after_delay"
    delay: Converted[int, DurationLike] = converted(DURATION, default=0)
    domain: Converted[Domain, DomainLike] = converted(DOMAIN, default=Domain.PROCESSING_TIME)

    @property
    def wait(self) -> int:
        """How far the clock has to move, in microseconds."""
        return max(self.delay, 1)

    def words(self) -> str:
        if self.delay == 0:
            return f"in the tick behind that of the first new element, by {self.domain.words}"
        return f"{format_duration(self.delay)} after the first new element, by {self.domain.words}"


@specification
class AfterCount(Trigger):
    """Ready at `count` elements or more since the node was reset."""

    NAME = "after_count"
    BODY = "count"
    count: int = plain(POSITIVE_INTEGER)

    def words(self) -> str:
        return "when a new element has come" if self.count == 1 else f"when {self.count:,} new elements have come"

    def repeated_lines(self) -> list[str]:
        return ["at every tick that brings new elements"] if self.count == 1 else super().repeated_lines()


@specification
class AfterBytes(Trigger):
    """Ready at `bytes` bytes or more since the node was reset; the size of an element is its source's `size`."""

    NAME = "after_bytes"
    BODY = "bytes"
    bytes: int = plain(POSITIVE_INTEGER)

    @property
    def aggregates(self) -> Mapping[str, Aggregate]:
        return {"bytes": TotalSize()}

    def words(self) -> str:
        return f"when {self.bytes:,} bytes of new elements have come"


@specification
class AfterMatch(Trigger):
    """Ready when `count` elements since the node was reset have matched `where`, a condition over one element."""

    NAME = "after_match"
    YAML_HINTS = {"predicate": "where", "matches": "count", "times": "count"}
    where: Converted[Expression, ExpressionLike] = converted(EXPRESSION)
    count: int = plain(POSITIVE_INTEGER, default=1)

    @property
    def aggregates(self) -> Mapping[str, Aggregate]:
        return {"matches": CountIf(self.where)}

    def words(self) -> str:
        come = "a new element has come" if self.count == 1 else f"{self.count:,} new elements have come"
        return f"when {come} with {in_words(self.where)}"


@specification
class WhenResult(Trigger):
    """Ready when the window has new elements and `condition` holds over its aggregates and derived columns as they are.

    A condition that is null, or that fails, does not hold.
    """

    NAME = "when_result"
    BODY = "condition"
    condition: Converted[Expression, ExpressionLike] = converted(EXPRESSION)

    @property
    def conditions(self) -> tuple[Expression, ...]:
        return (self.condition,)

    def words(self) -> str:
        return f"at a tick that finds new elements and {in_words(self.condition)}"


@specification
class AtClose(Trigger):
    """Ready when the watermark has reached the end plus the allowed lateness: one final result, at expiry."""

    NAME = "at_close"
    NAMES_EXPIRY = True

    def earliest_ready(self) -> Moment:
        return Moment.AT_EXPIRY

    def sees_end_only(self) -> bool:
        return True

    def words(self) -> str:
        return "once, when the window expires"


@specification
class Never(Trigger):
    """Never ready; the closing pane at expiry is all there is."""

    NAME = "never"
    NAMES_EXPIRY = True

    def earliest_ready(self) -> Moment:
        return Moment.NEVER

    def sees_end_only(self) -> bool:
        return True

    def words(self) -> str:
        return "never; when the window expires it gives its one pane"
