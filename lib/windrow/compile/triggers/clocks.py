"""The clocks of a tick as the cells and the nodes of triggers see them: columns, compared with the ends of windows and
with deadlines.

Usually all cells are evaluated at one tick (`TickClock`). Its clocks are literals, so boundaries and deadlines that
start in it are computed once, in Python; they differ from tick to tick, so they are written as `changing`. Where each
cell is evaluated at a tick of its own, the clocks are columns of its row (`OwnClock`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from windrow.compile.sql.columns import Column, bigint, changing, col, null, when
from windrow.spec.times import MINUS_INFINITY
from windrow.spec.triggers.all import Domain

NOW, WATERMARK = "now", "watermark"
"""The names of the clocks that every stage has; the watermark of percentile 90 is `watermark_90`."""

PENDING = MINUS_INFINITY + 1
"""The deadline of a node that waits for the first watermark that is known."""


def clock_of(domain: Domain) -> str:
    """The clock of a domain."""
    return NOW if domain is Domain.PROCESSING_TIME else WATERMARK


def percentile_clock(percentile: int) -> str:
    """The clock of a percentile of the watermark."""
    return WATERMARK if percentile == 100 else f"{WATERMARK}_{percentile}"


class Starting(Protocol):
    """A node whose deadline a new element starts."""

    number: int

    @property
    def domain(self) -> Domain:
        """The clock of the deadline."""

    def start(self, clock: int) -> int:
        """The deadline, by the clock at the element."""


class CellClock(ABC):
    """The clocks of the tick in which a cell is evaluated, as columns of bigint microseconds."""

    allowed_lateness: int

    @abstractmethod
    def column(self, name: str) -> Column:
        """A clock after the tick, by its name: what ends of windows and deadlines are compared with."""

    @abstractmethod
    def column_before(self, percentile: int = 100) -> Column:
        """The watermark of a percentile before the tick."""

    @abstractmethod
    def known(self) -> tuple[Column, Column, Column]:
        """`now`, and the watermark before and after; null where it is not known yet."""

    @abstractmethod
    def deadline(self, node: Starting) -> Column:
        """The deadline that a new element of the tick starts; `PENDING` where its clock is not known."""

    @abstractmethod
    def is_unknown(self, domain: Domain) -> bool:
        """Whether the clock of a domain is known in no cell."""


@dataclass(frozen=True)
class TickClock(CellClock):
    """The clocks of one tick. All are microseconds; -infinity is a watermark not yet known.

    `percentiles` are the watermarks after the tick of the percentiles below 100 that the stage names,
    `percentiles_before` those before it.
    """

    now: int
    watermark_before: int
    watermark_after: int
    allowed_lateness: int
    percentiles: Mapping[int, int] = field(default_factory=dict)
    percentiles_before: Mapping[int, int] = field(default_factory=dict)

    def percentile_before(self, percentile: int) -> int:
        """The watermark of a percentile before the tick."""
        return self.watermark_before if percentile == 100 else self.percentiles_before[percentile]

    @property
    def by_name(self) -> dict[str, int]:
        """All that deadlines are compared with, by the name of the clock."""
        own = {NOW: self.now, WATERMARK: self.watermark_after}
        return {**own, **{percentile_clock(p): watermark for p, watermark in self.percentiles.items()}}

    def of_new_element(self, domain: Domain) -> int:
        """The clock at a new element: for event time the watermark before, or the first one that is known."""
        if domain is Domain.PROCESSING_TIME:
            return self.now
        return self.watermark_after if self.watermark_before == MINUS_INFINITY else self.watermark_before

    def starts(self, node: Starting) -> int:
        """The deadline that a new element of the tick starts."""
        at = self.of_new_element(node.domain)
        return PENDING if at == MINUS_INFINITY else node.start(at)

    def column(self, name: str) -> Column:
        return changing(self.by_name[name])

    def column_before(self, percentile: int = 100) -> Column:
        return changing(self.percentile_before(percentile))

    def known(self) -> tuple[Column, Column, Column]:
        now, before, after = map(_known, (self.now, self.watermark_before, self.watermark_after))
        return now, before, after

    def deadline(self, node: Starting) -> Column:
        return changing(self.starts(node))

    def is_unknown(self, domain: Domain) -> bool:
        return self.of_new_element(domain) == MINUS_INFINITY


@dataclass(frozen=True)
class OwnClock(CellClock):
    """The clocks of the tick that a row names, in columns of that row: those of `columns_of` at that tick."""

    allowed_lateness: int

    def column(self, name: str) -> Column:
        return col(f"at_{name}")

    def column_before(self, percentile: int = 100) -> Column:
        return col(f"before_{percentile_clock(percentile)}")

    def known(self) -> tuple[Column, Column, Column]:
        found = (self.column(NOW), self.column_before(), self.column(WATERMARK))
        now, before, after = (when(one != bigint(MINUS_INFINITY), one) for one in found)
        return now, before, after

    def deadline(self, node: Starting) -> Column:
        return col(f"starts_{node.number}")

    def is_unknown(self, domain: Domain) -> bool:
        return False

    @staticmethod
    def columns_of(clock: TickClock, nodes: tuple[Starting, ...]) -> dict[str, int]:
        """The values of these columns at a tick, for the nodes that have deadlines."""
        before = {f"before_{percentile_clock(p)}": clock.percentile_before(p) for p in (100, *clock.percentiles)}
        after = {f"at_{name}": value for name, value in clock.by_name.items()}
        return {**before, **after, **{f"starts_{node.number}": clock.starts(node) for node in nodes}}


def _known(value: int) -> Column:
    """A clock, null where it is not known yet."""
    return null("bigint") if value == MINUS_INFINITY else changing(value)
