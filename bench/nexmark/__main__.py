"""Measure windrow beside Spark's own streaming and Flink SQL, on five queries of Nexmark over the same files.

    make nexmark [EVENTS=20000000] [ROUNDS=1]     or     python -m bench.nexmark [--events N] [--only q11,q12] ...

Everybody's results are compared row for row with those of DuckDB. Prints seconds, events a second and ratios, and
writes them to out/nexmark.json. Everything else that it makes is under out/nexmark and is removed in the end, but for
the environment with Flink.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from collections.abc import Callable, Collection, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from pyspark.sql import SparkSession

from bench.nexmark import by_flink, by_spark, by_windrow
from bench.nexmark.by_flink import MODES, Flink, FlinkFailed, FlinkUnavailable
from bench.nexmark.check import Oracle, Verdict
from bench.nexmark.events import DELAY, GROUP, RATE, Data
from bench.nexmark.queries import QUERIES, Query
from bench.results import Ratio, Results, console_for, machine_of, save_json, table_of_ratios, table_of_rounds
from windrow.drivers.spark.session import local_session

WARM_UP_EVENTS, WARM_UP_BATCHES = 500_000, 4
WINDROW, SPARK = "windrow: files to `current`", "Spark: files to appended Delta"
CONTESTANTS = ("windrow", "spark", "flink")


@dataclass
class Nexmark:
    """One run over some data: everybody in turns, round after round, each followed by the check of its result."""

    spark: SparkSession
    data: Data
    root: Path
    queries: Sequence[Query]
    contestants: frozenset[str] = frozenset(CONTESTANTS)
    flink: Flink | None = None
    results: Results = field(default_factory=Results)
    verdicts: dict[str, str] = field(default_factory=dict)
    wrong: list[str] = field(default_factory=list)

    def run(self, rounds: int) -> None:
        """Generate, measure and check."""
        self.data.generate()
        if self.flink is not None:
            by_flink.join_files(self.data)
        oracle = Oracle(self.data)
        for number in range(rounds):
            for query in self.queries:
                for who, name, run in (
                    ("windrow", WINDROW, by_windrow.run), ("spark", SPARK, by_spark.run)
                ):  # fmt: skip
                    if who in self.contestants:
                        entry, folder = f"{query.name} {name}", self.root / f"{who}-{query.name}-{number}"
                        path = self.results.timed(self.spark, entry, partial(run, self.spark, query, self.data, folder))
                        self._judge(entry, oracle.check_delta(query, path))
                        shutil.rmtree(folder, ignore_errors=True)
                if self.flink is not None:
                    self._flink(self.flink, oracle, query, self.root / f"flink-{query.name}-{number}")

    def _flink(self, flink: Flink, oracle: Oracle, query: Query, folder: Path) -> None:
        """All modes of Flink; a job that fails has a result that differs."""
        for mode in MODES:
            entry = f"{query.name} {mode.name}"
            try:
                self.results.took(entry, flink.run(query, self.data, folder, mode))
                if mode.has_files:
                    self._judge(entry, oracle.check_csv(query, folder / "result"))
            except FlinkFailed as error:
                self._judge(entry, Verdict(0, (f"no result: {error}",)))
            shutil.rmtree(folder, ignore_errors=True)

    def _judge(self, entry: str, verdict: Verdict) -> None:
        print(f"{'':11} {verdict}", file=sys.stderr, flush=True)
        if self.verdicts.get(entry, str(verdict)) != str(verdict) or not verdict.is_equal:
            self.wrong.append(entry)
        self.verdicts[entry] = str(verdict)


def ratios(results: Results, queries: Sequence[Query]) -> list[Ratio]:
    """How many times as fast as everybody else windrow is, by query."""
    made = []
    for query in queries:
        ours = f"{query.name} {WINDROW}"
        for name in (SPARK, *(mode.name for mode in MODES)):
            theirs = f"{query.name} {name}"
            if {ours, theirs} <= results.rounds.keys():
                value = results.median(theirs) / results.median(ours)
                made.append(Ratio(f"speed: {query.name} windrow / {name}", value))
    return made


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure once small, so that everybody's code is loaded, and then what was asked for; 1 if results differ."""
    options = parse(arguments)
    queries = [QUERIES[name] for name in options.only]
    contestants = frozenset(options.contestants)
    root = options.out.resolve() / "nexmark"
    shutil.rmtree(root, ignore_errors=True)
    root.mkdir(parents=True)
    with ExitStack() as stack:
        stack.callback(shutil.rmtree, root, ignore_errors=True)
        flink = _flink(stack, options.out) if "flink" in contestants else None
        spark = local_session("windrow nexmark")
        stack.callback(spark.stop)
        if not options.cold:
            print("a small round first, which is not counted", file=sys.stderr)
            warm = Data(root / "warm-data", WARM_UP_EVENTS, WARM_UP_BATCHES)
            Nexmark(spark, warm, root / "warm", queries, contestants, flink).run(1)
        data = Data(root / "data", options.events, options.batches)
        made = Nexmark(spark, data, root / "run", queries, contestants, flink)
        print(f"{data.events:,} events, {options.rounds} rounds", file=sys.stderr)
        made.run(options.rounds)
        report(made, options.rounds, options.out / "nexmark.json", flink)
    for entry in made.wrong:
        print(f"the results differ: {entry}", file=sys.stderr)
    return 1 if made.wrong else 0


def report(made: Nexmark, rounds: int, path: Path, flink: Flink | None) -> None:
    """Print the results and write them to a file."""
    data = made.data
    machine = machine_of(made.spark) | ({"Flink": flink.version} if flink is not None else {})
    by_two = ", ".join(query.name for query in made.queries if query.batches == 2)
    title = (
        f"{data.events:,} events in {data.batches} batches (two a commit in {by_two}), {RATE:,} a second of event "
        f"time, groups of {GROUP} out of order, watermark {DELAY} s behind, rounds: {rounds}"
    )
    console = console_for(machine, title)
    for query in made.queries:
        console.print(f"{query.name}: {query.title}", highlight=False)
    console.print(table_of_rounds(made.results, data.events, "events"))
    for entry, verdict in made.verdicts.items():
        console.print(f"{entry}: {verdict}", highlight=False, markup=False)
    compared = ratios(made.results, made.queries)
    console.print(table_of_ratios(compared))
    scale = {"events": data.events, "batches": data.batches, "rounds": rounds, "title": title}
    titles = {query.name: query.title for query in made.queries}
    save_json(
        path,
        {"machine": machine, "scale": scale, "queries": titles, "rounds": made.results.rounds, "checks": made.verdicts},
        compared,
    )


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """The options; the numbers' defaults come from environment variables of the same names, where those are set."""
    parser = argparse.ArgumentParser(prog="python -m bench.nexmark", description="Nexmark, beside Spark and Flink.")
    for name, default, text in (
        ("events", 20_000_000, "events in all"),
        ("batches", 10, "batches of files"),
        ("rounds", 1, "how often everything is measured"),
    ):
        given = int(os.environ.get(name.upper()) or default)
        parser.add_argument(f"--{name}", type=int, default=given, help=f"{text} (or {name.upper()}; {given})")
    several = "measure only these, separated by commas"
    parser.add_argument("--only", type=_names(QUERIES), default=list(QUERIES), help=several)
    parser.add_argument("--contestants", type=_names(CONTESTANTS), default=list(CONTESTANTS), help=several)
    parser.add_argument("--out", type=Path, default=Path("out"), help="the folder of nexmark.json and of all it makes")
    parser.add_argument("--cold", action="store_true", help="measure without a small round before")
    return parser.parse_args(arguments)


def _names(known: Collection[str]) -> Callable[[str], list[str]]:
    def names(text: str) -> list[str]:
        wanted = text.split(",")
        if unknown := [name for name in wanted if name not in known]:
            raise argparse.ArgumentTypeError(f"{', '.join(unknown)}: there are {', '.join(known)}")
        return [name for name in known if name in wanted]

    return names


def _flink(stack: ExitStack, out: Path) -> Flink | None:
    """Flink, if it can be had; a line says why it cannot."""
    try:
        flink = Flink(out)
    except FlinkUnavailable as error:
        print(f"without Flink: {error}", file=sys.stderr)
        return None
    stack.callback(flink.close)
    return flink


if __name__ == "__main__":
    sys.exit(main())
