"""Run a stream for hours and see that nothing grows and no reader meets a torn state.

    make soak [HOURS=2.25]     or     python -m bench.soak [--hours 2.25] [--seed 1] [--out out]

Writes out/soak.json, of which `make scale-page` makes a plot. The exit code is 1 if a read was torn, a
command failed, stream and batch differ in the end, or, where it lasted long enough to say, something has grown by more
than a tenth in the second half. `HOURS=0.05` is a rehearsal of three minutes.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import random
import shutil
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

from bench.results import computer
from bench.soak.commands import Batch, Stream
from bench.soak.load import Load, pipeline
from bench.soak.reader import Reader
from bench.soak.samples import Samples
from bench.soak.verdict import KEPT, KILLED, Growth, is_long_enough, judged

HOUR = 3600.0
HOURS = 2.25
"""Long enough for what maintenance keeps: when it is judged, nearly nothing of the time of kills is kept."""
PERIOD = 600.0
"""Seconds between two backfills, and between two runs of maintenance."""
SAMPLED = 5.0
LONGEST = 900.0
"""Seconds after which a command is given up: a backfill or a maintenance takes a minute or two."""
MOST_BETWEEN_READS = 60.0
"""Seconds in the mean: a reader that hangs has read nothing torn."""
VERSIONS = {"Spark": "pyspark", "Delta": "delta-spark", "windrow": "windrow"}


@dataclass(frozen=True)
class Plan:
    """How long it lasts and what happens when, in seconds; `seed` draws the moments of kills.

    It is killed in the first eighth, at its end for the last time: what grows in a process shows in one that lives on.
    """

    seconds: float
    seed: int = 1

    @property
    def period(self) -> float:
        return min(PERIOD, max(self.seconds / 4, 30.0))

    @property
    def last_kill(self) -> float:
        return self.seconds * KILLED

    @property
    def between_kills(self) -> float:
        """In the mean."""
        return self.period / 6


@dataclass
class Soak:
    """One soak, in a folder of its own."""

    root: Path
    plan: Plan
    growths: list[Growth] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        shutil.rmtree(self.root, ignore_errors=True)
        self.root.mkdir(parents=True)
        self.file = self.root / "soak.yaml"
        self.file.write_text(json.dumps(pipeline(self.root)))  # JSON is YAML
        self.stream = Stream(self.file, self.root / "stream.log")
        self.batch = Batch(self.root / "batches.log")
        self.load, self.reader = Load(self.root), Reader(self.root / "lake")
        self.samples = Samples(self.root / "lake")

    def run(self) -> None:
        """Run it, and end all that it has started, whatever happens."""
        self.load.start()
        self.reader.start()
        try:
            self._run()
            self._settle()
        finally:
            self.load.stopped.set()
            self.reader.stopped.set()
            self.stream.kill()
            self.batch.kill()
        self.growths = judged(self.samples.series, self.plan.seconds, self.plan.period)
        self._judge()

    def _run(self) -> None:
        chance, began = random.Random(self.plan.seed), time.monotonic()
        kill_at = chance.expovariate(1 / self.plan.between_kills)
        wanted = _Alternating(self.plan.period)
        while (now := time.monotonic() - began) < self.plan.seconds:
            self.stream.keep_alive()
            if now >= kill_at:
                self.stream.kill()
                kill_at = self._next_kill(now, chance)
                continue
            has_begun = bool(self.samples.series["tick"])  # a lake is made by one process
            if has_begun and not self.batch.is_active and (name := wanted.due(now)) is not None:
                self.batch.start(*self._arguments(name))
            self.samples.take(self.stream)
            time.sleep(SAMPLED)

    def _next_kill(self, now: float, chance: random.Random) -> float:
        last = self.plan.last_kill
        return min(last, now + chance.expovariate(1 / self.plan.between_kills)) if now < last else math.inf

    def _arguments(self, name: str) -> list[str]:
        if name == "maintain":
            kept = f"{KEPT / 60:.0f}m"
            return ["maintain", str(self.file), "--keep", kept, "--log", kept]
        return ["backfill", str(self.file), "--from", _minute(45 * 60), "--to", _minute(4 * 60)]

    def _settle(self) -> None:
        """What is left is read, late rows are counted, and stream and batch are compared."""
        self.load.stopped.set()
        self.load.join(60)
        self.stream.end()
        self.batch.wait(LONGEST)
        file = str(self.file)
        for arguments in (["run", file, "--once", "--drain"], ["restate", file], ["reconcile", file]):
            self.batch.start(*arguments)
            self.batch.wait(LONGEST)
        self.reader.stopped.set()
        self.reader.join(180)
        self.reader.look(at_raw=True)

    def _judge(self) -> None:
        self.wrong += self.reader.torn
        self.wrong += [f"{one['command']}: exit code {one['code']}" for one in self.batch.ended if one["code"]]
        self.wrong += [f"the stream ended by itself: {one}" for one in self.stream.deaths]
        self.wrong += [f"{one.name} grows by {one.share:.0%}" for one in self.growths if one.is_flat is False]
        if not self.samples.series["tick"]:
            self.wrong.append("nothing has ticked")
        if self.reader.rows != self.load.written:
            self.wrong.append(f"raw has {self.reader.rows:,} of the {self.load.written:,} rows that were written")
        self.wrong += self._lacking()

    def _lacking(self) -> Iterator[str]:
        """What should have been done more often: samples, reads, kills; a backfill and a maintenance in each period."""
        if is_long_enough(self.plan.seconds, self.plan.period):
            yield from (f"{one.name} was counted too seldom to say" for one in self.growths if one.is_flat is None)
        if self.plan.seconds >= HOUR and self.reader.reads < self.plan.seconds / MOST_BETWEEN_READS:
            yield f"the tables were read {self.reader.reads} times"
        least = max(0, int(self.plan.seconds // self.plan.period) - 2)
        for name in ("backfill", "maintain"):
            done = sum(one["command"] == name for one in self.batch.ended)
            if done < least:
                yield f"{name} ran {done} times in {self.plan.seconds / self.plan.period:g} periods"
        kills = int(self.plan.last_kill / self.plan.between_kills / 3)
        if self.plan.seconds >= HOUR and self.stream.kills < kills:
            yield f"the stream was killed {self.stream.kills} times"

    def to_mapping(self) -> dict[str, Any]:
        return {
            "seconds": self.plan.seconds,
            "period": self.plan.period,
            "rows": self.load.written,
            "kills": self.stream.kills,
            "reads": self.reader.reads,
            "batches": self.batch.ended,
            "growth": {one.name: one.share for one in self.growths},
            "wrong": self.wrong,
            "machine": {**computer(), "cores": os.cpu_count(), **{of: version(name) for of, name in VERSIONS.items()}},
            "series": {name: _rounded(points) for name, points in self.samples.series.items()},
        }


@dataclass
class _Alternating:
    """A backfill and a maintenance in every period, half a period apart."""

    period: float
    _done: int = 0

    def due(self, now: float) -> str | None:
        number = int(now // (self.period / 2))
        if number <= self._done:
            return None
        self._done = number
        return "backfill" if number % 2 else "maintain"


def _minute(ago: float) -> str:
    """A whole minute so many seconds ago."""
    return time.strftime("%Y-%m-%dT%H:%M:00Z", time.gmtime(time.time() - ago))


def _rounded(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    return [(round(at, 1), round(value, 3)) for at, value in points]


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.soak", description="A stream for hours.")
    hours = float(os.environ.get("HOURS") or HOURS)
    parser.add_argument("--hours", type=float, default=hours, help=f"how long (or HOURS; {hours:g})")
    parser.add_argument("--seed", type=int, default=1, help="of the moments at which the stream is killed")
    parser.add_argument("--out", type=Path, default=Path("out"), help="the folder of soak.json and of the lake")
    options = parser.parse_args(arguments)
    soak = Soak(options.out.resolve() / "soak", Plan(options.hours * HOUR, options.seed))
    soak.run()
    found = soak.to_mapping()
    (options.out / "soak.json").write_text(json.dumps(found) + "\n")
    _say(found)
    sys.exit(1 if soak.wrong else 0)


def _say(found: dict[str, Any]) -> None:
    print(f"{found['rows']:,} rows, {found['kills']} kills, {len(found['batches'])} batches, {found['reads']} reads")
    for name, share in found["growth"].items():
        print(f"{name} in the second half: {'too short to say' if share is None else f'{share:+.1%}'}")
    print("\n".join(found["wrong"]) or "nothing is wrong")


if __name__ == "__main__":
    main()
