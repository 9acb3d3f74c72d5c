"""What a tick counts, as one value: the statistics of the micro-batch begin it, the control row keeps it, the rows that
are written complete it.

Rule: docs/semantics.md#where-every-row-is. `ticks`, status, reports and the lines of a run show it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any


@dataclass(frozen=True)
class Counters:
    """Where the rows of a tick are and its pairs of element and window, and how many panes it emitted.

    Each row and each pair is in exactly one place:

        read     = dead_rows + bad_expression + filtered + kept
        kept     = in_windows + unassigned
        assigned = aggregated + late + closed

    Counters of inputs and of ticks are added up.
    """

    read: int = 0
    """Rows that were read."""
    dead_rows: int = 0
    """Rows that were dead letters when they landed."""
    bad_expression: int = 0
    """Rows that were alive, and on which an expression of the stage failed."""
    bad_gap: int = 0
    """Of the rows of `bad_expression`: those whose gap no session can have."""
    filtered: int = 0
    """Rows that `where` left out."""
    kept: int = 0
    """Rows that are elements: all others that were read."""
    unassigned: int = 0
    """Of the rows of `kept`: those in no window."""
    assigned: int = 0
    """Pairs of element and window."""
    late: int = 0
    """Pairs whose window had expired."""
    closed: int = 0
    """Pairs whose window's trigger had finished."""
    panes: int = 0
    """Panes shown."""
    retractions: int = 0
    """Panes retracted."""

    def __add__(self, other: Counters) -> Counters:
        return Counters(**{name: getattr(self, name) + getattr(other, name) for name in NAMES})

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> Counters:
        """Those of the values that are counters, by name. One that is missing or null has counted nothing."""
        return cls(**{name: int(values.get(name) or 0) for name in NAMES})

    @property
    def known_at_commit(self) -> dict[str, int]:
        """Those that are known when the tick is committed, by name."""
        return {name: getattr(self, name) for name in KNOWN_AT_COMMIT}

    @property
    def rejected(self) -> int:
        """Rows that were dead letters when they landed, or on which an expression failed."""
        return self.dead_rows + self.bad_expression

    @property
    def in_windows(self) -> int:
        """Rows in one window or more, late ones too."""
        return self.kept - self.unassigned

    @property
    def dead_letters(self) -> int:
        """The rows that the tick has in `dead_letters` of its stage."""
        return self.bad_expression + self.late + self.closed


NOTHING = Counters()
"""What a tick without rows counts."""

NAMES = tuple(field.name for field in fields(Counters))

WRITTEN = ("closed", "panes", "retractions")
"""Counted in the rows that a tick has written: nothing is known of them before."""

KNOWN_AT_COMMIT = tuple(name for name in NAMES if name not in WRITTEN)
"""Known when the tick is committed, so that its control row has them."""
