"""The results of the bench as tables for people and as JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from bench import contest
from bench.contest import Results
from bench.workload import Scale


@dataclass(frozen=True)
class Ratio:
    """What is compared, and what it should be: at least, or at most, `goal`."""

    name: str
    value: float
    goal: float | None = None
    at_most: bool = False

    @property
    def met(self) -> bool | None:
        if self.goal is None:
            return None
        return self.value <= self.goal if self.at_most else self.value >= self.goal


def ratios(results: Results) -> list[Ratio]:
    """Ratios of speed (how many times as fast) and of time (how many times as long), over medians."""
    merges, appends = contest.merges(results.store), contest.appends(results.store)
    compared = [
        ("speed: every change / Spark and MERGE", merges, contest.CHANGES, 1.5, False),
        ("speed: on time / Spark and bare append", appends, contest.ON_CLOSE, 0.8, False),
        ("speed: every change / Spark and bare append", appends, contest.CHANGES, 0.8, False),
        ("speed: sessions / Spark and bare append", contest.SPARK_SESSIONS, contest.SESSIONS_ON_CLOSE, None, False),
        ("speed: sessions and a stage behind / the same in Spark", contest.SPARK_CHAIN, contest.CHAIN, None, False),
        ("speed: 1 h by 1 m / the same in Spark", contest.SPARK_SLIDING, contest.SLIDING_ON_CLOSE, 3.0, False),
        ("time: record windows / range frame", contest.RECORD_BACKFILL, contest.RANGE_FRAME, None, True),
        ("speed: landing / bare append", contest.BARE_APPEND, contest.LANDING, None, False),
        ("time: landing, ten rules / none", contest.LANDING_RULES, contest.LANDING, 1.15, True),
        ("time: backfill / GROUP BY", contest.BACKFILL, contest.GROUP_BY, 1.5, True),
        ("speed: small tick / Spark and MERGE", contest.SMALL_MERGES, contest.TICK_PROJECTED, None, False),
    ]
    measured = results.rounds.keys() | results.small.keys()
    made = [
        Ratio(name, results.median(over) / results.median(under), goal, at_most)
        for name, over, under, goal, at_most in compared
        if {over, under} <= measured
    ]
    if results.small:
        tick = Ratio("seconds: small tick, projected", results.median(contest.TICK_PROJECTED), 2.0, at_most=True)
        made.append(tick)
    return made


def show(scale: Scale, results: Results, machine: Mapping[str, Any]) -> None:
    """Print what was measured, and of what."""
    console = Console(width=120)
    console.print(", ".join(f"{name} {value}" for name, value in machine.items()), highlight=False)
    title = (
        f"{scale.rows:,} rows, {scale.keys:,} keys, {scale.batches} batches, 10-minute windows, "
        f"one minute out of order, {scale.rounds} round(s)"
    )
    console.print(title, highlight=False)
    table = _table("over all rows", "seconds", "median s", "rows/s")
    for name, seconds in results.rounds.items():
        middle = results.median(name)
        table.add_row(name, _listed(seconds), f"{middle:.2f}", f"{scale.rows / middle:,.0f}")
    console.print(table)
    if results.small:
        table = _table(f"one batch of {scale.small_rows:,} rows into what is warm", "from s", "to s", "median s")
        for name, seconds in results.small.items():
            table.add_row(name, f"{min(seconds):.2f}", f"{max(seconds):.2f}", f"{results.median(name):.2f}")
        console.print(table)
    table = _table("ratios of medians", "is", "goal", "met")
    for ratio in ratios(results):
        goal = "" if ratio.goal is None else f"{'<=' if ratio.at_most else '>='} {ratio.goal:g}"
        table.add_row(ratio.name, f"{ratio.value:.2f}", goal, {None: "", True: "yes", False: "no"}[ratio.met])
    console.print(table)


def save(path: Path, scale: Scale, results: Results, machine: Mapping[str, Any]) -> None:
    """Write the same as JSON; seconds, unrounded."""
    compared = {ratio.name: {"value": ratio.value, "goal": ratio.goal, "met": ratio.met} for ratio in ratios(results)}
    path.parent.mkdir(parents=True, exist_ok=True)
    content = {"machine": dict(machine), "scale": asdict(scale), **asdict(results), "ratios": compared}
    path.write_text(json.dumps(content, indent=2) + "\n")


def _table(first: str, *others: str) -> Table:
    table = Table()
    table.add_column(first)
    for name in others:
        table.add_column(name, justify="right")
    return table


def _listed(seconds: list[float]) -> str:
    return "  ".join(f"{one:.2f}" for one in seconds)
