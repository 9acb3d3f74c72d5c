"""The leaves of a trigger tree as columns. Rules: docs/semantics.md#triggers, docs/semantics.md#sessions."""

from __future__ import annotations

from collections.abc import Mapping

from windrow.compile.columns import ELEMENTS, NEW, WINDOW_END
from windrow.compile.sql import columns as sql
from windrow.compile.sql.columns import Column, Value, bigint, call, coalesce, lit, saturating_add, when
from windrow.compile.triggers.clocks import PENDING, WATERMARK, CellClock, clock_of, percentile_clock
from windrow.compile.triggers.nodes import Node
from windrow.compile.triggers.periods import next_boundary
from windrow.spec import times
from windrow.spec.times import INFINITY
from windrow.spec.triggers.all import AfterBytes, AfterCount, AfterDelay, AfterMatch, AtPeriod, AtWatermark, Domain


class WatermarkNode(Node):
    """Ready at the end of the window; when it was reset behind that, at new elements only."""

    FIELDS = {"rewound": ("boolean", False), "seen": ("boolean", False)}
    trigger: AtWatermark

    def add(self, clock: CellClock) -> Mapping[str, Column]:
        return {"seen": self.col("seen") | (self.col("sees") & (sql.col(ELEMENTS) > 0))}

    def _complete(self, clock: CellClock) -> Column:
        return sql.col(WINDOW_END) <= clock.column(percentile_clock(self.trigger.percentile))

    def ready(self, clock: CellClock) -> Column:
        return self._complete(clock) & (~self.col("rewound") | self.col("seen"))

    def initial(self, clock: CellClock) -> Mapping[str, Column]:
        return {"rewound": self._complete(clock), "seen": lit(False)}

    def gathered(self) -> Mapping[str, Column]:
        had_fired, seen = self.of_part("rewound"), self.of_part("seen")
        return {"rewound": call("bool_and", had_fired), "seen": call("bool_or", seen)}

    def merged(self, clock: CellClock) -> Mapping[str, Column]:
        return {**super().merged(clock), "rewound": self.gathered_col("rewound") & self.stays_finished(clock)}

    def stays_finished(self, clock: CellClock) -> Column:
        """Only where the merged window was complete before the tick: else it fires again at its end."""
        return sql.col(WINDOW_END) <= clock.column_before(self.trigger.percentile)

    def waiting(self) -> Mapping[str, Value]:
        return {"rewound": False, "seen": True}

    def has_timer(self, name: str) -> bool:
        return name == percentile_clock(self.trigger.percentile)

    def timer(self, name: str, clock: CellClock) -> Column:
        return when(self.col("rewound"), bigint(INFINITY), sql.col(WINDOW_END))


class DeadlineNode(Node):
    """A deadline that the first new element starts."""

    FIELDS = {"deadline": ("bigint", None)}
    trigger: AfterDelay | AtPeriod

    @property
    def domain(self) -> Domain:
        return self.trigger.domain

    def start(self, clock: int) -> int:
        """The deadline, by the clock at the element."""
        raise NotImplementedError

    def add(self, clock: CellClock) -> Mapping[str, Column]:
        started = clock.deadline(self)
        begins = self.col("sees") & (sql.col(ELEMENTS) > 0) & self.col("deadline").is_null()
        deadline = when(begins, started, self.col("deadline"))
        if self.domain is Domain.EVENT_TIME and not clock.is_unknown(self.domain):
            deadline = when(self.col("deadline") == bigint(PENDING), started, deadline)
        return {"deadline": deadline}

    def ready(self, clock: CellClock) -> Column:
        reached = coalesce(self.col("deadline") <= clock.column(clock_of(self.domain)), lit(False))
        return reached & (self.col("deadline") != bigint(PENDING)) if self.domain is Domain.EVENT_TIME else reached

    def gathered(self) -> Mapping[str, Column]:
        """The earliest deadline, and one that is not known yet only where no part knows any."""
        deadline = self.of_part("deadline")
        known = when(deadline != bigint(PENDING), deadline)
        return {"deadline": coalesce(call("min", known), call("min", deadline))}

    def has_timer(self, name: str) -> bool:
        return name == clock_of(self.domain)

    def timer(self, name: str, clock: CellClock) -> Column:
        return coalesce(self.col("deadline"), bigint(INFINITY))


class DelayNode(DeadlineNode):
    """The deadline is as far ahead of the clock as the delay is long."""

    trigger: AfterDelay

    def start(self, clock: int) -> int:
        return times.saturating_add(clock, self.trigger.wait)


class PeriodNode(DeadlineNode):
    """The deadline is the first boundary strictly after the clock."""

    trigger: AtPeriod

    def start(self, clock: int) -> int:
        return next_boundary(self.trigger, clock)


class CountNode(Node):
    """Ready at n elements since the reset."""

    FIELDS = {"count": ("bigint", 0)}
    trigger: AfterCount

    def add(self, clock: CellClock) -> Mapping[str, Column]:
        return {"count": self.col("count") + when(self.col("sees"), sql.col(ELEMENTS), bigint(0))}

    def gathered(self) -> Mapping[str, Column]:
        return {"count": call("sum", self.of_part("count"))}

    def ready(self, clock: CellClock) -> Column:
        return self.col("count") >= bigint(self.trigger.count)


class MatchNode(Node):
    """Ready at n matching elements since the reset."""

    FIELDS = {"count": ("bigint", 0)}
    trigger: AfterMatch

    def add(self, clock: CellClock) -> Mapping[str, Column]:
        return {"count": self.col("count") + when(self.col("sees"), self.of_tick("matches"), bigint(0))}

    def gathered(self) -> Mapping[str, Column]:
        return {"count": call("sum", self.of_part("count"))}

    def ready(self, clock: CellClock) -> Column:
        return self.col("count") >= bigint(self.trigger.count)


class BytesNode(Node):
    """Ready at n bytes since the reset. What is counted stops at `MOST`, so that no size can overflow it."""

    FIELDS = {"bytes": ("bigint", 0)}
    trigger: AfterBytes
    MOST = 2**62 - 1

    def add(self, clock: CellClock) -> Mapping[str, Column]:
        added = when(self.col("sees"), self.of_tick("bytes"), bigint(0))
        return {"bytes": sql.least(self.col("bytes") + added, bigint(self.MOST))}

    def gathered(self) -> Mapping[str, Column]:
        added = call("sum", self.of_part("bytes").cast("decimal(28,0)"))
        return {"bytes": sql.least(added, bigint(self.MOST)).cast("bigint")}

    def ready(self, clock: CellClock) -> Column:
        return self.col("bytes") >= bigint(min(self.trigger.bytes, self.MOST))


class ResultNode(Node):
    """Ready when the cell has new elements and the condition over its results holds."""

    def ready(self, clock: CellClock) -> Column:
        return (sql.col(NEW) > 0) & self.col("holds")


class CloseNode(Node):
    """Ready at expiry."""

    def ready(self, clock: CellClock) -> Column:
        return saturating_add(sql.col(WINDOW_END), clock.allowed_lateness) <= clock.column(WATERMARK)

    def has_timer(self, name: str) -> bool:
        return name == WATERMARK

    def timer(self, name: str, clock: CellClock) -> Column:
        return saturating_add(sql.col(WINDOW_END), clock.allowed_lateness)


class NeverNode(Node):
    """Never ready."""
