"""The report of a run as one HTML page that needs nothing else: no network, no other file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from windrow.spec.quality.fixes import count_of, place_of, quarantines, total_of, values_of
from windrow.spec.quality.judgements import GateResult
from windrow.view.templates import template
from windrow.view.text.bars import Bars
from windrow.view.text.times import many, moment


@dataclass(frozen=True)
class Part:
    """A number that is a part of a sum, and what it is a part for: `rejected`, by a rule of the suite."""

    name: str
    number: int
    why: str = ""


@dataclass(frozen=True)
class Balance:
    """A number and the parts into which it falls; whether they add up is shown on the page."""

    of: str
    what: str
    total: int
    parts: Sequence[Part]

    @property
    def sum(self) -> int:
        return sum(part.number for part in self.parts)

    @property
    def adds_up(self) -> bool:
        return self.sum == self.total

    @property
    def shown(self) -> list[tuple[Part, float]]:
        """The parts with their shares of the total in percent."""
        return [(part, 100 * part.number / self.total if self.total else 0.0) for part in self.parts]


@dataclass(frozen=True)
class Rejected:
    """How many rows of a file a rule has rejected when they landed; several rules where a row broke them all."""

    source: str
    rule: str
    file: str | None
    rows: int


@dataclass(frozen=True)
class Chart:
    """Panes by timing over the windows of a stage."""

    stage: str
    bars: Bars


@dataclass(frozen=True)
class Report:
    """Everything that the page shows. Times are microseconds; `facts` are numbers for the head of the page.

    `typed` is how the pipeline is named on the command line.
    """

    pipeline: str
    run: str
    start: int | None
    end: int | None
    made_at: int
    outcome: str
    is_good: bool
    facts: Mapping[str, int] = field(default_factory=dict)
    balances: Sequence[Balance] = ()
    rejected: Sequence[Rejected] = ()
    gates: Sequence[GateResult] = ()
    charts: Sequence[Chart] = ()
    tables: Mapping[str, str] = field(default_factory=dict)
    typed: str = "FILE"

    @property
    def quarantines(self) -> list[str]:
        """The commands that take out what stops the gates."""
        return quarantines(self.gates, self.typed)


def page(report: Report) -> str:
    """The page as HTML."""
    words = {"count_of": count_of, "place_of": place_of, "total_of": total_of, "values_of": values_of}
    return template("report.html").render(report=report, moment=moment, many=many, **words)
