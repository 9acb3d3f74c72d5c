"""The nodes of a trigger tree: the state of each, and what it does in each phase of a tick, as columns.

Rule: SEMANTICS section 5. A node never sees a row of its own; it is a set of columns `t<i>_...` of the cell's row. The
clocks of a tick are literals, so boundaries and deadlines that start in it are computed once, in Python; they differ
from tick to tick, so they are written as `changing`.
`windrow.compile.triggers` puts the phases together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from windrow.compile import sql
from windrow.compile.columns import ELEMENTS, WINDOW_END
from windrow.compile.periods import next_boundary
from windrow.compile.sql import Column, Value, all_of, any_of, bigint, changing, coalesce, lit, saturating_add, when
from windrow.spec import times
from windrow.spec.times import INFINITY, MINUS_INFINITY
from windrow.spec.triggers import AfterCount, AfterDelay, AtPeriod, Domain, RepeatCount, Trigger

PENDING = MINUS_INFINITY + 1
"""The deadline of a node that waits for the first watermark that is known."""


@dataclass(frozen=True)
class TickClock:
    """The clocks of one tick, as a trigger sees them. All are microseconds; -infinity is a watermark not yet known."""

    now: int
    watermark_before: int
    watermark_after: int
    allowed_lateness: int

    def of(self, domain: Domain) -> int:
        """The clock that a deadline is compared with."""
        return self.now if domain is Domain.PROCESSING_TIME else self.watermark_after

    def of_new_element(self, domain: Domain) -> int:
        """The clock at a new element: for event time the watermark before, or the first one that is known."""
        if domain is Domain.PROCESSING_TIME:
            return self.now
        return self.watermark_after if self.watermark_before == MINUS_INFINITY else self.watermark_before


@dataclass
class Node:
    """One node of the tree: its number in preorder, and its columns in each phase."""

    FIELDS: ClassVar[Mapping[str, tuple[str, Value]]] = {}
    """The state: field names with their type and initial value."""

    number: int
    trigger: Trigger
    children: list[Node] = field(default_factory=list)

    def name(self, suffix: str) -> str:
        return f"t{self.number}_{suffix}"

    def col(self, suffix: str) -> Column:
        return sql.col(self.name(suffix))

    @property
    def height(self) -> int:
        return 1 + max((child.height for child in self.children), default=-1)

    @property
    def fields(self) -> Mapping[str, tuple[str, Value]]:
        return self.FIELDS

    def has_due(self, domain: Domain) -> bool:
        """Whether a deadline of this clock can be in this tree at all."""
        return any(child.has_due(domain) for child in self.children)

    # Each of these gives columns by suffix; the defaults are those of a leaf that is never ready.

    def sees(self, child: int) -> Column:
        """Whether a child gets the tick's elements, where this node does."""
        return self.col("sees")

    def add(self, clock: TickClock) -> Mapping[str, Column]:
        """The state after the tick's elements, by field; fields left out stay as they are."""
        return {}

    def ready(self, clock: TickClock) -> Column:
        return lit(False)

    def leaf(self) -> Column:
        """The number of the leaf on the path that fires, where this node is ready."""
        return lit(self.number)

    def child_fires(self, child: int) -> Column:
        return lit(False)

    def finished(self) -> Column:
        """Whether this node has finished, where it fires."""
        return lit(True)

    def child_reset(self, child: int) -> Column:
        """Whether a child is reset though this node is not."""
        return lit(False)

    def advanced(self) -> Mapping[str, Column]:
        """The state after firing, by field, where this node is not reset."""
        return {}

    def initial(self, clock: TickClock) -> Mapping[str, Column]:
        """The state after a reset, by field."""
        return {name: lit(value).cast(kind) for name, (kind, value) in self.fields.items()}

    def due(self, domain: Domain, clock: TickClock) -> Column:
        """The next value of a clock at which this node must be asked, +infinity for never; where `has_due` holds."""
        return bigint(INFINITY)


class WatermarkNode(Node):
    """Ready at the end of the window; when it was reset behind that, at new elements only."""

    FIELDS = {"rewound": ("boolean", False), "seen": ("boolean", False)}

    def add(self, clock: TickClock) -> Mapping[str, Column]:
        return {"seen": self.col("seen") | (self.col("sees") & (sql.col(ELEMENTS) > 0))}

    def _complete(self, clock: TickClock) -> Column:
        return sql.col(WINDOW_END) <= changing(clock.watermark_after)

    def ready(self, clock: TickClock) -> Column:
        return self._complete(clock) & (~self.col("rewound") | self.col("seen"))

    def initial(self, clock: TickClock) -> Mapping[str, Column]:
        return {"rewound": self._complete(clock), "seen": lit(False)}

    def has_due(self, domain: Domain) -> bool:
        return domain is Domain.EVENT_TIME

    def due(self, domain: Domain, clock: TickClock) -> Column:
        return when(self.col("rewound"), bigint(INFINITY), sql.col(WINDOW_END))


class DeadlineNode(Node):
    """A deadline that the first new element starts: a delay, or the next boundary of a period."""

    FIELDS = {"deadline": ("bigint", None)}

    @property
    def domain(self) -> Domain:
        assert isinstance(self.trigger, AfterDelay | AtPeriod)
        return self.trigger.domain

    def start(self, clock: int) -> int:
        assert isinstance(self.trigger, AfterDelay)
        return times.saturating_add(clock, self.trigger.delay)

    def add(self, clock: TickClock) -> Mapping[str, Column]:
        at = clock.of_new_element(self.domain)
        started = changing(PENDING if at == MINUS_INFINITY else self.start(at))
        begins = self.col("sees") & (sql.col(ELEMENTS) > 0) & self.col("deadline").is_null()
        deadline = when(begins, started, self.col("deadline"))
        if self.domain is Domain.EVENT_TIME and at != MINUS_INFINITY:
            known = changing(self.start(at))
            deadline = when(self.col("deadline") == bigint(PENDING), known, deadline)
        return {"deadline": deadline}

    def ready(self, clock: TickClock) -> Column:
        at = clock.of(self.domain)
        reached = coalesce(self.col("deadline") <= changing(at), lit(False))
        return reached & (self.col("deadline") != bigint(PENDING)) if self.domain is Domain.EVENT_TIME else reached

    def has_due(self, domain: Domain) -> bool:
        return domain is self.domain

    def due(self, domain: Domain, clock: TickClock) -> Column:
        return coalesce(self.col("deadline"), bigint(INFINITY))


class PeriodNode(DeadlineNode):
    """The deadline is the first boundary strictly after the clock."""

    def start(self, clock: int) -> int:
        assert isinstance(self.trigger, AtPeriod)
        return next_boundary(self.trigger, clock)


class CountNode(Node):
    """Ready at n elements since the reset."""

    FIELDS = {"count": ("bigint", 0)}

    def add(self, clock: TickClock) -> Mapping[str, Column]:
        return {"count": self.col("count") + when(self.col("sees"), sql.col(ELEMENTS), bigint(0))}

    def ready(self, clock: TickClock) -> Column:
        assert isinstance(self.trigger, AfterCount)
        return self.col("count") >= bigint(self.trigger.count)


class CloseNode(Node):
    """Ready at expiry."""

    def ready(self, clock: TickClock) -> Column:
        return saturating_add(sql.col(WINDOW_END), clock.allowed_lateness) <= changing(clock.watermark_after)

    def has_due(self, domain: Domain) -> bool:
        return domain is Domain.EVENT_TIME

    def due(self, domain: Domain, clock: TickClock) -> Column:
        return saturating_add(sql.col(WINDOW_END), clock.allowed_lateness)


class NeverNode(Node):
    """Never ready."""


class FirstNode(Node):
    """Ready when any child is; finished by firing."""

    def ready(self, clock: TickClock) -> Column:
        return any_of(child.col("ready") for child in self.children)

    def leaf(self) -> Column:
        return coalesce(*[when(child.col("ready"), child.col("leaf")) for child in self.children])

    def due(self, domain: Domain, clock: TickClock) -> Column:
        return earliest([child.col(f"due_{domain}") for child in self.children if child.has_due(domain)])


class AllNode(Node):
    """Ready when every child has been since the reset; a child that was ready is latched."""

    @property
    def fields(self) -> Mapping[str, tuple[str, Value]]:
        return {f"latch{index}": ("boolean", False) for index in range(len(self.children))}

    def sees(self, child: int) -> Column:
        return self.col("sees") & ~self.col(f"latch{child}")

    def _latched(self, child: int) -> Column:
        return self.col(f"latch{child}") | self.children[child].col("ready")

    def ready(self, clock: TickClock) -> Column:
        return all_of(self._latched(index) for index in range(len(self.children)))

    def leaf(self) -> Column:
        new = [
            when(child.col("ready") & ~self.col(f"latch{index}"), child.col("leaf"))
            for index, child in enumerate(self.children)
        ]
        return coalesce(*new, self.children[0].col("leaf"))

    def advanced(self) -> Mapping[str, Column]:
        return {
            f"latch{index}": self.col(f"latch{index}") | (self.col("sees") & child.col("ready"))
            for index, child in enumerate(self.children)
        }

    def due(self, domain: Domain, clock: TickClock) -> Column:
        return earliest(
            when(self.col(f"latch{index}"), bigint(INFINITY), child.col(f"due_{domain}"))
            for index, child in enumerate(self.children)
            if child.has_due(domain)
        )


class SequenceNode(Node):
    """The current child, then the next; finished after the last."""

    FIELDS = {"position": ("int", 0)}

    def _current(self, child: int) -> Column:
        return self.col("position") == child

    def _of_current(self, values: Callable[[Node], Column]) -> Column:
        return coalesce(*[when(self._current(index), values(child)) for index, child in enumerate(self.children)])

    def sees(self, child: int) -> Column:
        return self.col("sees") & self._current(child)

    def ready(self, clock: TickClock) -> Column:
        return coalesce(self._of_current(lambda child: child.col("ready")), lit(False))

    def leaf(self) -> Column:
        return self._of_current(lambda child: child.col("leaf"))

    def child_fires(self, child: int) -> Column:
        return self.col("fires") & self._current(child)

    def _child_finished(self) -> Column:
        return coalesce(self._of_current(lambda child: child.col("finished")), lit(False))

    def finished(self) -> Column:
        return self._current(len(self.children) - 1) & self._child_finished()

    def advanced(self) -> Mapping[str, Column]:
        moves = self.col("fires") & self._child_finished()
        return {"position": self.col("position") + when(moves, 1, 0)}

    def due(self, domain: Domain, clock: TickClock) -> Column:
        return earliest(
            when(self._current(index), child.col(f"due_{domain}"), bigint(INFINITY))
            for index, child in enumerate(self.children)
            if child.has_due(domain)
        )


class RepeatNode(Node):
    """Its child again and again."""

    def ready(self, clock: TickClock) -> Column:
        return self.children[0].col("ready")

    def leaf(self) -> Column:
        return self.children[0].col("leaf")

    def child_fires(self, child: int) -> Column:
        return self.col("fires")

    def finished(self) -> Column:
        return lit(False)

    def child_reset(self, child: int) -> Column:
        return self.col("fires") & self.children[0].col("finished")

    def due(self, domain: Domain, clock: TickClock) -> Column:
        return self.children[0].col(f"due_{domain}")


class RepeatUntilNode(RepeatNode):
    """As Repeat, until the second child is ready."""

    def ready(self, clock: TickClock) -> Column:
        return any_of(child.col("ready") for child in self.children)

    def leaf(self) -> Column:
        repeat, until = self.children
        return when(until.col("ready"), until.col("leaf"), repeat.col("leaf"))

    def child_fires(self, child: int) -> Column:
        return self.col("fires") & ~self.children[1].col("ready") if child == 0 else lit(False)

    def finished(self) -> Column:
        return self.children[1].col("ready")

    def child_reset(self, child: int) -> Column:
        return self.children[0].col("fires") & self.children[0].col("finished") if child == 0 else lit(False)

    def due(self, domain: Domain, clock: TickClock) -> Column:
        return earliest([child.col(f"due_{domain}") for child in self.children if child.has_due(domain)])


class RepeatCountNode(RepeatNode):
    """As Repeat, for n firings."""

    FIELDS = {"firings": ("int", 0)}

    def finished(self) -> Column:
        assert isinstance(self.trigger, RepeatCount)
        return self.col("firings") + 1 >= self.trigger.times

    def advanced(self) -> Mapping[str, Column]:
        return {"firings": self.col("firings") + when(self.col("fires"), 1, 0)}


def earliest(columns: Iterable[Column]) -> Column:
    """The least of one column or more."""
    several = list(columns)
    return several[0] if len(several) == 1 else sql.least(*several)
