"""Measure windrow beside Spark's own streaming and batch, over the same landed rows, in one run.

    make bench [ROWS=20000000] [ROUNDS=1]     or     python -m bench.bench [--rows N] [--rounds N] ...

Prints seconds, rows per second and ratios, and writes them to out/bench.json. `--only growth` measures how the seconds
of a tick grow, and writes them to out/growth.json. Everything else that is made is under `out`, and is removed in the
end.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from pyspark.sql import SparkSession

from bench import growth
from bench.baselines import STATE_STORES
from bench.contest import PARTS, Contest
from bench.growth import Sizes
from bench.report import save, show
from bench.results import Results, machine_of
from bench.workload import Scale
from windrow.drivers.spark.session import local_session

GROWTH = "growth"
"""A part with sizes of its own, written to out/growth.json."""
WARM_UP_ROWS, WARM_UP_BATCHES = 800_000, 4
"""Enough for the compilers of the JVM to see every loop: else whoever is measured first pays for all."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure once small, so that everybody's code is loaded, and then what was asked for."""
    options = parse(arguments)
    scale = Scale(options.rows, options.batches, options.keys, options.rounds, options.small_rows, options.small_ticks)
    stores = tuple(STATE_STORES) if options.rocksdb else ("default",)
    parts = frozenset(options.only or PARTS)
    if parts - {GROWTH}:
        _contest(scale, options, stores, parts - {GROWTH})
    if GROWTH in parts:
        _growth(Sizes(options.rows), options.out)


def _contest(scale: Scale, options: argparse.Namespace, stores: tuple[str, ...], parts: frozenset[str]) -> None:
    spark = local_session("windrow bench")
    try:
        if not options.cold:
            print("a small round first, which is not counted", file=sys.stderr)
            small = replace(scale, rows=WARM_UP_ROWS, batches=WARM_UP_BATCHES, rounds=1, small_ticks=1)
            _measure(spark, small, options.out, stores, parts)
        print(f"{scale.rows:,} rows, {scale.rounds} rounds", file=sys.stderr)
        results = _measure(spark, scale, options.out, stores, parts)
        report(spark, scale, results, options.out / "bench.json")
    finally:
        spark.stop()


def _growth(sizes: Sizes, out: Path) -> None:
    """The first tick of each point is not counted, so nobody pays for the code that is loaded then."""
    root = out.resolve() / "growth"
    over_cores = growth.measure_cores(sizes, root)
    spark = local_session("windrow growth")
    try:
        lines = {**growth.measure(spark, sizes, root), growth.CORES: over_cores}
        growth.report(spark, sizes, lines, out / "growth.json")
    finally:
        spark.stop()


def report(spark: SparkSession, scale: Scale, results: Results, path: Path) -> None:
    """Print the results and write them to a file."""
    machine = {**machine_of(spark), "Spark's state store": results.store}
    show(scale, results, machine)
    save(path, scale, results, machine)


def _measure(spark: SparkSession, scale: Scale, out: Path, stores: tuple[str, ...], parts: frozenset[str]) -> Results:
    root = out.resolve() / "bench"
    shutil.rmtree(root, ignore_errors=True)
    try:
        return Contest(spark, scale, root, stores, parts).run()
    finally:
        shutil.rmtree(root, ignore_errors=True)


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """The options; their defaults come from environment variables of the same names, where those are set."""
    parser = argparse.ArgumentParser(prog="python -m bench.bench", description="Measure windrow beside Spark's own.")

    def number(name: str, default: int, text: str) -> None:
        variable = name.removeprefix("--").replace("-", "_").upper()
        given = int(os.environ.get(variable) or default)
        parser.add_argument(name, type=int, default=given, help=f"{text} (or {variable}; {given})")

    number("--rows", 20_000_000, "rows of the large batches")
    number("--batches", 10, "landing batches, each a tick and a micro-batch")
    number("--keys", 100_000, "keys")
    number("--rounds", 1, "how often everything is measured")
    number("--small-rows", 20_000, "rows of a small batch")
    number("--small-ticks", 10, "small ticks with projections, and as many without; 0: none")
    parser.add_argument(
        "--out", type=Path, default=Path("out"), help="the folder of bench.json and of all that is made"
    )
    parser.add_argument(
        "--only", nargs="+", choices=(*PARTS, GROWTH), help=f"measure only these; {GROWTH} only if named"
    )
    parser.add_argument("--rocksdb", action="store_true", help="measure Spark's other state store too (fixed windows)")
    parser.add_argument("--cold", action="store_true", help="measure without a small round before")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    main()
