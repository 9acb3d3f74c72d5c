"""The results of the bench as tables for people and as JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from bench import contest
from bench.results import Ratio, Results, console_for, new_table, save_json, table_of_ratios, table_of_rounds
from bench.workload import Scale


def ratios(results: Results) -> list[Ratio]:
    """Ratios of speed (how many times as fast) and of time (how many times as long), over medians."""
    merges, appends = contest.merges(results.store), contest.appends(results.store)
    compared = [
        ("speed: every change / Spark and MERGE", merges, contest.CHANGES, 1.6, False),
        ("speed: files to `current` / Spark, files to MERGE", contest.SPARK_FILES, contest.FILES, 1.2, False),
        ("speed: on time / Spark and bare append", appends, contest.ON_CLOSE, 1.3, False),
        ("speed: every change / Spark and bare append", appends, contest.CHANGES, None, False),
        ("speed: sessions / Spark and bare append", contest.SPARK_SESSIONS, contest.SESSIONS_ON_CLOSE, 1.5, False),
        ("speed: sessions and a stage behind / the same in Spark", contest.SPARK_CHAIN, contest.CHAIN, 1.2, False),
        ("speed: 1 h by 1 m / the same in Spark", contest.SPARK_SLIDING, contest.SLIDING_ON_CLOSE, 5.0, False),
        ("time: record windows / range frame", contest.RECORD_BACKFILL, contest.RANGE_FRAME, 2.5, True),
        ("speed: landing / bare append", contest.BARE_APPEND, contest.LANDING, 0.77, False),
        ("time: landing, ten rules / none", contest.LANDING_RULES, contest.LANDING, 1.15, True),
        ("time: backfill / GROUP BY", contest.BACKFILL, contest.GROUP_BY, 1.33, True),
        ("speed: small tick / Spark and MERGE", contest.SMALL_MERGES, contest.TICK_PROJECTED, None, False),
    ]
    measured = results.rounds.keys() | results.small.keys()
    made = [
        Ratio(name, results.median(over) / results.median(under), goal, at_most)
        for name, over, under, goal, at_most in compared
        if {over, under} <= measured
    ]
    if results.small:
        of_tick = results.median(contest.TICK), results.median(contest.TICK_PROJECTED)
        made.append(Ratio("seconds: small tick, to a pane", of_tick[0], 0.9, at_most=True))
        made.append(Ratio("seconds: small tick, projected", of_tick[1], 2.0, at_most=True))
    return made


def show(scale: Scale, results: Results, machine: Mapping[str, Any]) -> None:
    """Print what was measured, and of what."""
    title = (
        f"{scale.rows:,} rows, {scale.keys:,} keys, {scale.batches} batches, 10-minute windows, "
        f"one minute out of order, rounds: {scale.rounds}"
    )
    console = console_for(machine, title)
    console.print(table_of_rounds(results, scale.rows))
    if results.small:
        table = new_table(f"one batch of {scale.small_rows:,} rows into what is warm", "from s", "to s", "median s")
        for name, seconds in results.small.items():
            table.add_row(name, f"{min(seconds):.2f}", f"{max(seconds):.2f}", f"{results.median(name):.2f}")
        console.print(table)
    console.print(table_of_ratios(ratios(results)))


def save(path: Path, scale: Scale, results: Results, machine: Mapping[str, Any]) -> None:
    """Write the same as JSON; seconds, unrounded."""
    save_json(path, {"machine": dict(machine), "scale": asdict(scale), **asdict(results)}, ratios(results))
