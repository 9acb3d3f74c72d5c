"""What a batch of rows holds, counted before the tick, so that its watermark is a literal of the main plan."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from windrow.spec.times import MINUS_INFINITY


@dataclass(frozen=True)
class Survey:
    """What a batch of rows holds. `assigned` and `late` count pairs of element and window, all else rows.

    `bad_gap` is one kind of `bad_expression`; `suspects` are pairs that are late if their window would merge with one
    that has expired.
    """

    read: int = 0
    dead: int = 0
    bad_expression: int = 0
    bad_gap: int = 0
    filtered: int = 0
    unassigned: int = 0
    kept: int = 0
    assigned: int = 0
    late: int = 0
    suspects: int = 0
    earliest: int | None = None
    latest: int | None = None
    latest_end: int | None = None
    greatest_arrival: int = MINUS_INFINITY
    greatest: dict[str | None, int] = field(default_factory=dict)
    """The greatest event time of each source partition, over the rows that are not dead."""
    asserted: dict[str | None, int] = field(default_factory=dict)
    """The greatest watermark that rows of each source partition assert, over those that are not dead."""
    arrivals: dict[str | None, int] = field(default_factory=dict)
    """The greatest arrival time of each source partition, over the rows that are not dead."""

    @property
    def is_empty(self) -> bool:
        return self.read == 0


COUNTS = ("read", "dead", "bad_expression", "bad_gap", "filtered", "unassigned", "kept", "assigned", "late",
           "suspects")  # fmt: skip


def summed(surveys: Sequence[Survey]) -> Survey:
    """What several inputs hold together. Their source partitions are not: each has a watermark of its own."""
    if len(surveys) <= 1:
        return surveys[0] if surveys else Survey()
    return Survey(
        **{name: sum(getattr(survey, name) for survey in surveys) for name in COUNTS},
        earliest=min((s.earliest for s in surveys if s.earliest is not None), default=None),
        latest=max((s.latest for s in surveys if s.latest is not None), default=None),
        latest_end=max((s.latest_end for s in surveys if s.latest_end is not None), default=None),
        greatest_arrival=max((s.greatest_arrival for s in surveys), default=MINUS_INFINITY),
    )


_COUNTED = (
    "read",
    "dead",
    "bad_expression",
    "bad_gap",
    "filtered",
    "unassigned",
    "kept",
    "assigned",
    "late",
)


def counted(batch: Survey) -> dict[str, int]:
    """What a control row says of the rows of a tick."""
    return {name: getattr(batch, name) for name in _COUNTED}
