"""The report of a run as one HTML page that needs nothing else: no network, no other file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from windrow.spec.quality.fixes import count_of, place_of, quarantines, share_of, total_of, values_of
from windrow.spec.quality.judgements import GateResult, Judgement
from windrow.view.diff import Diff
from windrow.view.reports.arrival import Arrival, OverDays
from windrow.view.reports.next_steps import next_steps
from windrow.view.reports.parts import Attempt, NextStep, StageFigures, State, StepTime, lasted
from windrow.view.templates import template
from windrow.view.text.bars import NARROW, Bars
from windrow.view.text.table import cell
from windrow.view.text.times import many, moment, starts, window

WORDS = {
    "moment": moment,
    "starts": starts,
    "many": many,
    "window": window,
    "cell": cell,
    "lasted": lasted,
    "count_of": count_of,
    "place_of": place_of,
    "share_of": share_of,
    "total_of": total_of,
    "values_of": values_of,
}
"""What the templates of pages can say."""


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

    @property
    def drawings(self) -> list[tuple[str, Bars]]:
        """By the class of the screens that show it."""
        return [("wide", self.bars), ("narrow", replace(self.bars, width=NARROW))]


@dataclass(frozen=True)
class Report:
    """Everything that the page shows. Times are microseconds; `facts` are numbers for the head of the page.

    `typed` is how the pipeline is named on the command line, `waiting` says which windows wait for what, `generations`
    are those of stages that a gate keeps from being shown. `changed` has windows with their old and new values.
    `versions` are those of the tables in Delta; `link` is the address of the task that made the run.
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
    state: State = State.PUBLISHED
    typed: str = "FILE"
    generations: Mapping[str, int] = field(default_factory=dict)
    waiting: Sequence[str] = ()
    stages: Sequence[StageFigures] = ()
    changed: Sequence[Diff] = ()
    arrivals: Sequence[Arrival] = ()
    over_days: Sequence[OverDays] = ()
    steps: Sequence[StepTime] = ()
    attempts: Sequence[Attempt] = ()
    versions: Mapping[str, int] = field(default_factory=dict)
    link: str | None = None

    @property
    def quarantines(self) -> list[str]:
        """The commands that take out what stops the gates."""
        return quarantines(self.gates, self.typed)

    @property
    def next(self) -> list[NextStep]:
        """Commands to type."""
        span = (self.start, self.end)
        return [*next_steps(self.state, self.run, self.typed, span, self.generations, self.facts)]

    @property
    def stopping(self) -> list[tuple[GateResult, list[Judgement]]]:
        """The gates that stop, and the judgements by which they do."""
        return [(gate, [one for one in gate.judgements if one.stops]) for gate in self.gates if gate.stops]

    @property
    def lasted(self) -> int | None:
        """From the first step to the last, in microseconds."""
        return self.steps[-1].at - self.steps[0].at if len(self.steps) > 1 else None


def page(report: Report) -> str:
    """The page as HTML."""
    return template("report.html").render(report=report, **WORDS)
