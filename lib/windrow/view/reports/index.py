"""The page of all runs of a pipeline, the newest first, with trends."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from windrow.view.report import WORDS
from windrow.view.reports.parts import State
from windrow.view.templates import template

HEIGHT, BAR = 40, 8
"""Of the bars of a trend, in the units of its drawing."""


@dataclass(frozen=True)
class RunLine:
    """One run: over which windows, when, how it ended, and what it did; None where it did not come so far."""

    run: str
    start: int | None
    end: int | None
    began: int
    lasted: int
    state: State
    outcome: str
    rows: int | None
    windows: int | None
    inserted: int | None
    changed: int | None
    retracted: int | None

    @property
    def kind(self) -> str:
        """By its name: those of a scheduler have other ones."""
        kind = self.run.partition("-")[0]
        return kind if kind in ("backfill", "restatement") and "__" not in self.run else "scheduled"


@dataclass(frozen=True)
class Trend:
    """A number of each run, the oldest first."""

    name: str
    numbers: Sequence[tuple[RunLine, float]]

    @property
    def most(self) -> float:
        return max((number for _, number in self.numbers), default=0)

    @property
    def width(self) -> int:
        return BAR * max(30, len(self.numbers))

    @property
    def height(self) -> int:
        return HEIGHT

    @property
    def bars(self) -> list[tuple[RunLine, float, float, float]]:
        """Of each run: its number, where its bar begins, and how high it is."""
        most = self.most or 1
        first = self.width - BAR * len(self.numbers)
        return [
            (run, number, first + index * BAR, HEIGHT * number / most)
            for index, (run, number) in enumerate(self.numbers)
        ]


@dataclass(frozen=True)
class Index:
    """The runs of a pipeline, the newest first; `number` are all that there are."""

    pipeline: str
    made_at: int
    runs: Sequence[RunLine]
    number: int

    @property
    def trends(self) -> list[Trend]:
        """Of those that have the number."""
        oldest = self.runs[::-1]
        named: dict[str, list[tuple[RunLine, float | None]]] = {
            "rows read": [(run, run.rows) for run in oldest],
            "windows that changed": [(run, _sum(run.changed, run.retracted)) for run in oldest],
            "seconds": [(run, round(run.lasted / 1_000_000, 1)) for run in oldest],
        }
        known = {name: [(run, n) for run, n in numbers if n is not None] for name, numbers in named.items()}
        return [Trend(name, numbers) for name, numbers in known.items() if any(number for _, number in numbers)]


def _sum(one: int | None, other: int | None) -> int | None:
    return None if one is None or other is None else one + other


def index_page(index: Index, page_of: Callable[[str], str]) -> str:
    """The page as HTML; `page_of` names the file of a run's page, beside this one."""
    return template("index.html").render(index=index, page_of=page_of, **WORDS)
