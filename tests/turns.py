"""Long tests: which of them a day takes, and until when (`--turn`, `--budget`). A plugin of pytest.

`make test` leaves the tests marked `long` out. CI takes those of a day's turn, so that all of them run every few days.
What begins too late is skipped with a reason, and named at the end: it does not look like something that has passed.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime
from zlib import crc32

import pytest

TURNS = 3
"""How many days CI takes for all long tests."""

FIRST = {
    "tests/airflow/test_backfill.py": 1, "tests/crash/test_kill.py": 2, "tests/engine/test_transcripts.py": 3,
}  # fmt: skip
"""The files that take longest have turns of their own; the hash of their name decides for the others."""

REASON = "not run: the budget was used up"


@dataclass(frozen=True)
class Turn:
    """The `number`-th of `of` parts of the files, from 1. `shift` says with which file it begins."""

    number: int
    of: int
    shift: int = 0

    def __post_init__(self) -> None:
        if not 1 <= self.number <= self.of or self.shift < 0:
            raise pytest.UsageError(f"--turn must be today or K/N with 1 <= K <= N; got {self}. Hint: --turn 1/{TURNS}")

    def __str__(self) -> str:
        return f"{self.number}/{self.of}" + (f"+{self.shift}" if self.shift else "")

    @classmethod
    def parse(cls, text: str, today: date) -> Turn:
        """`today`, `2/3`, or `2/3+5`: begin with the sixth file. Errors: UsageError for anything else."""
        if text == "today":
            rounds, number = divmod(today.toordinal(), TURNS)
            return cls(number + 1, TURNS, rounds)
        whole, _, shift = text.partition("+")
        number_of = whole.split("/")
        if len(number_of) != 2 or not all(part.isdecimal() for part in (*number_of, shift or "0")):
            raise pytest.UsageError(f"--turn must be today or K/N; got {text!r}. Hint: --turn 1/{TURNS}")
        return cls(int(number_of[0]), int(number_of[1]), int(shift or 0))

    def has(self, file: str) -> bool:
        """Whether the long tests of this file are in the turn."""
        place = FIRST[file] - 1 if file in FIRST else crc32(file.encode())
        return place % self.of == self.number - 1

    def ordered(self, files: list[str]) -> list[str]:
        """The files in the order of this turn: what the budget cuts off in one round comes earlier in the next."""
        begin = self.shift % len(files) if files else 0
        return files[begin:] + files[:begin]


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("long tests")
    group.addoption("--turn", metavar="K/N", help="of the long tests only those of this turn, or of the day: today")
    group.addoption("--budget", metavar="SECONDS", type=float, help="after which no further long test begins")


def pytest_configure(config: pytest.Config) -> None:
    """Fix the day here: the processes of a run take this option over, also at midnight."""
    if config.option.turn is not None:
        config.option.turn = str(Turn.parse(config.option.turn, datetime.now(UTC).date()))
    config.stash[BEGAN] = time.monotonic()


BEGAN = pytest.StashKey[float]()


def file_of(item: pytest.Item) -> str:
    return item.nodeid.partition("::")[0]


@pytest.hookimpl(trylast=True)  # `-m` and `-k` have chosen
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the long tests of other turns; those of this one come last, in its order."""
    if config.option.turn is None:
        return
    turn = Turn.parse(config.option.turn, date.min)
    long = [item for item in items if item.get_closest_marker("long")]
    files = turn.ordered(sorted({file_of(item) for item in long if turn.has(file_of(item))}))
    config.hook.pytest_deselected(items=[item for item in long if file_of(item) not in files])
    others = [item for item in items if item not in set(long)]
    items[:] = others + [item for file in files for item in long if file_of(item) == file]


@pytest.hookimpl(tryfirst=True)  # before fixtures
def pytest_runtest_setup(item: pytest.Item) -> None:
    budget = item.config.option.budget
    if budget is not None and item.get_closest_marker("long"):
        spent = time.monotonic() - item.config.stash[BEGAN]
        if spent > budget:
            pytest.skip(f"{REASON} ({budget:g} s)")


def not_run(reports: list[pytest.TestReport]) -> Iterator[str]:
    """The tests that the budget has left out."""
    for report in reports:
        if isinstance(report.longrepr, tuple) and REASON in report.longrepr[2]:
            yield report.nodeid


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    names = list(not_run(terminalreporter.stats.get("skipped", [])))
    if names:
        terminalreporter.section(f"{len(names)} long tests {REASON}")
        for name in names:
            terminalreporter.line(name)
