"""Measure what each step costs, and what grows with the history of a lake; write docs/scale.md from it.

    make scale [ARGS="--only costs"]     or     python -m bench.scale [--only costs history] [--ticks 1000 100000] ...
    make scale-page                      or     python -m bench.scale --only page

Costs are added to out/costs.json, point by point: a run goes on where the one before has ended. The lakes with a
history of 1,000, 10,000 and 100,000 ticks are measured into out/history.json.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from windrow.spec.times import SECOND

MEASURED = ("costs", "history")
PARTS = (*MEASURED, "page")
LENGTHS = (1_000, 10_000, 100_000)


def main(arguments: Sequence[str] | None = None) -> None:
    options = parse(arguments)
    parts = options.only or MEASURED
    if "costs" in parts:
        _costs(options.out, options.seconds)
    if "history" in parts:
        _history(options.out, options.ticks, options.apart)
    if "page" in parts:
        from bench.scale.page import written

        print(written(options.out, options.docs))


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.scale", description="Scale on paper, and checked.")
    parser.add_argument("--only", nargs="+", choices=PARTS, help="these parts; by default what is measured")
    parser.add_argument("--ticks", nargs="+", type=int, default=LENGTHS, help="the lengths of the histories")
    parser.add_argument(
        "--apart",
        type=float,
        default=300.0,
        help="seconds between two commits of a history: Delta keeps 30 days of them",
    )
    parser.add_argument("--seconds", type=float, default=1e9, help="no point of the costs begins after so many seconds")
    parser.add_argument("--out", type=Path, default=Path("out"), help="the folder of what is measured")
    parser.add_argument("--docs", type=Path, default=Path("docs"), help="the folder of the page")
    return parser.parse_args(arguments)


def _costs(out: Path, seconds: float) -> None:
    from bench.scale import costs
    from windrow.drivers.spark.session import local_session

    sessions: dict[int, Any] = {}

    def session(cores: int) -> Any:
        if cores not in sessions:
            for other in sessions.values():
                other.stop()
            sessions.clear()
            sessions[cores] = local_session("windrow scale", master=f"local[{cores}]")
        return sessions[cores]

    try:
        costs.measure(session, out.resolve() / "costs", out / "costs.json", seconds)
    finally:
        for one in sessions.values():
            one.stop()


def _history(out: Path, lengths: Sequence[int], apart: float) -> None:
    from bench.results import machine_of, save_json
    from bench.scale import opening
    from windrow.drivers.spark.session import local_session

    spark = local_session("windrow history")
    try:
        found: dict[int, dict[str, Any]] = {}
        for one in opening.measure(spark, out.resolve() / "history", lengths, int(apart * SECOND)):
            found[one.ticks] = asdict(one)
            measured = [found[ticks] for ticks in sorted(found)]
            save_json(out / "history.json", {"machine": machine_of(spark), "apart": apart, "lengths": measured})
    finally:
        spark.stop()


if __name__ == "__main__":
    main()
