"""What was found of each specification that was tried, as plain values.

Rule: docs/simulate.md#the-figures. Times and lengths are microseconds; a length is None where no window has it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from html import escape
from typing import Any

from windrow.view.pictures.against_arrival import Point
from windrow.view.pictures.values import Density, PaneCount

AGES = (0, 60, 300, 600, 900, 1800, 3600, 7200, 10800, 14400, 21600, 43200, 86400, 172800, 604800)
"""How long ago the end of a window is, in seconds, where completeness is said."""


@dataclass(frozen=True)
class Spread:
    """A length over windows: the median, and what 95 percent of them do not exceed."""

    median: int | None = None
    most: int | None = None


@dataclass(frozen=True)
class Findings:
    """One specification over the measured windows.

    `right_at_first` windows had all their elements when they were first shown as complete, `right` ones at some time;
    `never` showed nothing. `panes` are those of the measured windows; `retractions` rows of weight -1.
    """

    name: str
    windows: int
    right_at_first: int
    right: int
    never: int
    to_first: Spread
    to_on_time: Spread
    to_right: Spread
    panes: int
    early: int
    corrections: int
    retractions: int
    late: int
    closed: int
    pairs: int
    most_open: int
    evaluated: int
    rows: int
    shown_by_age: Sequence[tuple[int, float]] = ()
    """The share of the elements that were shown when the end of their window was so many seconds ago."""

    @property
    def share_right_at_first(self) -> float:
        """Of the measured windows."""
        return self.right_at_first / self.windows if self.windows else 0.0

    @property
    def share_right(self) -> float:
        """Of the measured windows."""
        return self.right / self.windows if self.windows else 0.0

    @property
    def panes_per_window(self) -> float:
        """Panes and retractions: what is written."""
        return (self.panes + self.retractions) / self.windows if self.windows else 0.0

    @property
    def cost(self) -> float:
        """Cells evaluated and panes written for a million rows: what ticks work on beside the rows."""
        return (self.evaluated + self.panes + self.retractions) * 1e6 / self.rows if self.rows else 0.0

    def to_mapping(self) -> dict[str, Any]:
        """For machines."""
        shares = {"share_right_at_first": self.share_right_at_first, "share_right": self.share_right}
        return {**asdict(self), **shares, "panes_per_window": self.panes_per_window, "cost_per_million": self.cost}


@dataclass(frozen=True)
class Arrival:
    """How the elements of the measured windows arrived, whatever is tried: shares by the age of the window's end.

    `elements` is the share of elements that had arrived, `windows` that of the windows of which all had.
    """

    pairs: int
    windows: int
    elements: Sequence[tuple[int, float]] = ()
    complete: Sequence[tuple[int, float]] = ()


@dataclass(frozen=True)
class Suggestion:
    """What was wished for, the findings of the specification that gives it, and that as YAML; None where none does."""

    wish: str
    findings: Findings | None = None
    fields: str | None = None


@dataclass(frozen=True)
class Shown:
    """What a specification showed over time: its watermark, as event and processing times, and its panes on a grid."""

    name: str
    watermark: Sequence[Point]
    panes: Sequence[PaneCount]


@dataclass(frozen=True)
class Simulation:
    """All that was tried over one history."""

    pipeline: str
    stage: str
    rows: int
    ticks: int
    first: int
    last: int
    unmeasured: int
    """Windows of the history that had not ended for every specification, so that nothing is said of them."""
    order: str
    arrivals: Sequence[tuple[str, Arrival]]
    """By the windows that are tried, in words."""
    findings: Sequence[Findings]
    suggestions: Sequence[Suggestion] = ()
    warnings: Sequence[str] = ()
    front: Sequence[str] = field(default_factory=tuple)
    """The names on the Pareto front."""
    shown: Sequence[Shown] = ()
    """Nothing where all rows arrived in one tick."""
    density: Density | None = None
    """Where the rows are, by event time and arrival."""

    def text(self, width: int = 160) -> str:
        """The table and the sentences, for a terminal of so many columns."""
        from windrow.view.simulate.table import text_of

        return text_of(self, width)

    def page(self) -> str:
        """An HTML page with plots that needs nothing else."""
        from windrow.view.simulate.page import page

        return page(self)

    def _repr_html_(self) -> str:
        """The page within a notebook, apart from its styles."""
        document = escape(self.page())
        return f'<iframe title="{escape(self.stage)}" srcdoc="{document}" width="100%" height="900"></iframe>'

    def to_mapping(self) -> dict[str, Any]:
        """For machines."""
        return {
            "pipeline": self.pipeline,
            "stage": self.stage,
            "rows": self.rows,
            "ticks": self.ticks,
            "order": self.order,
            "windows_left_out": self.unmeasured,
            "arrival": {name: asdict(one) for name, one in self.arrivals},
            "tried": [{**one.to_mapping(), "on_front": one.name in self.front} for one in self.findings],
            "suggestions": [
                {"wish": one.wish, "name": None if one.findings is None else one.findings.name, "try": one.fields}
                for one in self.suggestions
            ],
            "warnings": list(self.warnings),
        }
