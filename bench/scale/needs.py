"""What a load needs, by the formulas: how long a tick of it takes, on how many cores it keeps up, and how many files
and log entries a year of it leaves.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import ceil, expm1

from bench.scale.formulas import Costs, Work, cells, writes_all_cells

DAY, YEAR = 86_400, 365 * 86_400
BUSY = 0.5
"""A stream that keeps up with ease is at work half of the time, so that it can also catch up."""
MOST_CORES = 4096
REFRESH = 60.0
"""`current` is written no more often than so many seconds apart."""
COMPACTED_EVERY = 8
"""Ticks that have to be read between two compactions of the journal."""
KEPT_DAYS = 30
"""So long Delta keeps the commits of a table."""
CHECKPOINT_EVERY = 50
FULL_FILE = 96 * 1024**2
"""Maintenance leaves a file of that many bytes alone."""


@dataclass(frozen=True)
class Load:
    """Rows a day, evenly over the day and over the open cells; a tick every `pace` seconds."""

    rows_a_day: float
    open_cells: float
    pace: float

    @property
    def rows(self) -> float:
        """Of a tick."""
        return self.rows_a_day * self.pace / DAY

    @property
    def touched(self) -> float:
        """The cells that a tick changes, where each row is in any of them as likely as in any other."""
        return -self.open_cells * expm1(-self.rows / self.open_cells)

    def work(self, cores: float, copied: float) -> Work:
        """`copied` are the rows that each refresh writes again."""
        sizes = cells(self.rows, self.touched, self.open_cells)
        return {**sizes, "copied": copied, "cores": cores, "files": 0.0, "bytes": 0.0}

    def seconds(self, costs: Costs, cores: float, copied: float) -> float:
        """Of landing, tick and tables, with the share of a compaction and of a refresh that each tick bears."""
        work = self.work(cores, copied)
        one = {step: formula.seconds(work) for step, formula in costs.formulas.items()}
        refreshed = replace(self, pace=max(self.pace, REFRESH)).work(cores, copied)
        refresh = costs.formulas["refresh"].seconds(refreshed) * min(self.pace / REFRESH, 1.0)
        is_compact = writes_all_cells(self.rows, self.open_cells)
        compaction = 0.0 if is_compact else one["compaction"] / COMPACTED_EVERY
        return one["landing"] + one["tick"] + one["tables"] + compaction + refresh

    def cores(self, costs: Costs, copied: float) -> int | None:
        """The least power of two on which it keeps up; None where no number of cores is enough."""
        cores = 1
        while cores <= MOST_CORES:
            if self.seconds(costs, cores, copied) <= BUSY * self.pace:
                return cores
            cores *= 2
        return None


@dataclass(frozen=True)
class Year:
    """Ticks a year, the commits of all tables, the data files that they add, and what is there at any time.

    `kept_files` are those that are live before a daily maintenance, of the year's bytes and the last day; `entries` the
    files in the logs that Delta keeps for thirty days, `endless` those of a year without that.
    """

    ticks: int
    commits: int
    files: int
    kept_files: int
    entries: int
    endless: int


def year_of(pace: float, files: Mapping[str, int], bytes_a_tick: float) -> Year:
    """A year of ticks that far apart (in seconds), each of which adds so many files to each table.

    `current` gets its files no more often than it is written.
    """
    ticks = round(YEAR / pace)
    commits = {name: round(ticks * _shares(name, pace)) for name in files}
    days = {name: number * KEPT_DAYS * DAY // YEAR for name, number in commits.items()}
    added = sum(number * files[name] for name, number in commits.items())
    full = ceil(ticks * bytes_a_tick / FULL_FILE) + len(files)
    return Year(
        ticks=ticks,
        commits=sum(commits.values()),
        files=added,
        kept_files=full + round(added * DAY / YEAR),
        entries=_entries(days),
        endless=_entries(commits),
    )


def _shares(table: str, pace: float) -> float:
    """How many commits of a table a tick comes to."""
    return min(pace / REFRESH, 1.0) if table == "current" else 1.0


def _entries(commits: Mapping[str, int]) -> int:
    """Of each commit its actions and its checksums, and a checkpoint now and then."""
    return sum(2 * number + number // CHECKPOINT_EVERY for number in commits.values())
