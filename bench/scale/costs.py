"""What each step costs at some sizes: landing, tick, tables, `current`, compaction of the journal, maintenance.

At each point one window has so many open cells, and ticks of so many rows change some of them. Points with `checks` are
not used for the formulas; these are compared with them.
"""

from __future__ import annotations

import json
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Any

from pyspark.sql import SparkSession

from bench import stages
from bench.growth import Rows
from bench.results import machine_of, save_json
from bench.scale.formulas import cells
from bench.stages import EVERY_CHANGE, Running
from bench.workload import FILES_PER_BATCH, SOURCE, START, land, pipeline, write_batch
from windrow.drivers.maintain.maintain import maintain
from windrow.drivers.maintain.tables import Maintained
from windrow.spec.times import SECOND
from windrow.store.delta.log.commit_files import CommitFiles

STAGE = "changes"
TICKS = 3
"""So many are measured at a point, behind one that is not."""


@dataclass(frozen=True)
class Point:
    """A size: rows of a tick, the cells that it changes, all cells that are open; and how many ticks are measured."""

    rows: int
    touched: int
    open: int
    cores: int = 2
    checks: bool = False
    ticks: int = TICKS

    @property
    def name(self) -> str:
        cores = "1 core" if self.cores == 1 else f"{self.cores} cores"
        ticks = "" if self.ticks == TICKS else f", {self.ticks} ticks"
        return f"{self.rows:,} rows, {self.touched:,} of {self.open:,} cells{ticks}, {cores}"

    @property
    def work(self) -> dict[str, float]:
        return {**cells(self.rows, self.touched, self.open), "cores": self.cores}


POINTS = (
    Point(2_000, 2_000, 10_000),
    Point(2_000, 2_000, 10_000, ticks=50),
    Point(2_000_000, 2_000, 10_000),
    Point(500_000, 500_000, 500_000),
    Point(2_000, 2_000, 2_000_000),
    Point(8_000_000, 500_000, 500_000),
    Point(1_000_000, 100_000, 500_000, checks=True),
    Point(500_000, 50_000, 200_000, cores=1, checks=True),
)
"""Six that make the formulas, and two that check them: one between these, one with half of the cores. Many ticks leave
many small files to maintenance."""
WARM = (Point(2_000, 2_000, 10_000), Point(500_000, 500_000, 500_000))
"""Measured first, and not used: a JVM that has compiled nothing yet takes twice as long."""


@dataclass
class Found:
    """The seconds of steps, each with the work that took them, and the files that a tick adds to each table."""

    steps: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    files: dict[str, int] = field(default_factory=dict)
    bytes_each: dict[str, float] = field(default_factory=dict)

    def took(self, step: str, seconds: float, **work: float) -> None:
        self.steps.setdefault(step, []).append({"work": work, "seconds": seconds})


def measure(session: Callable[[int], SparkSession], root: Path, path: Path, most_seconds: float) -> None:
    """Measure the points that the file at `path` does not have yet, and add each to it; none begins after so long."""
    began, found, warm_with = time.monotonic(), read(path), None
    for point in POINTS:
        if point.name in {one["name"] for one in found["points"]} or time.monotonic() - began > most_seconds:
            continue
        spark = session(point.cores)
        if warm_with != point.cores:
            for warm in WARM:
                measured(spark, root, replace(warm, cores=point.cores))
            warm_with = point.cores
        of = vars(measured(spark, root, point))
        found["points"].append({"name": point.name, "checks": point.checks, "point": point.work, **of})
        if not point.checks:
            found["machine"] = machine_of(spark)
        save_json(path, found)


def read(path: Path) -> dict[str, Any]:
    """The points that were measured, and the machine of those that make the formulas."""
    return dict(json.loads(path.read_text())) if path.exists() else {"machine": {}, "points": []}


def measured(spark: SparkSession, root: Path, point: Point) -> Found:
    """Measure one point, in a folder that is removed."""
    shutil.rmtree(root, ignore_errors=True)
    try:
        return _measured(spark, root, point)
    finally:
        shutil.rmtree(root, ignore_errors=True)


def _measured(spark: SparkSession, root: Path, point: Point) -> Found:
    _write(spark, root, Rows(point.open, "id", f"{START}"), 0)
    land(spark, root)
    running = stages.run_stages(spark, root, {"name": STAGE, **EVERY_CHANGE})
    found, ticks = Found(), [*_ticks(spark, root, running, point)]
    for step in ("landing", "tick", "tables"):
        found.took(step, median(getattr(one, step) for one in ticks[1:]), **point.work)
    refreshes = [(one.refresh, one.copied) for one in ticks[1:]]
    found.took("refresh", median(seconds for seconds, _ in refreshes), **point.work, copied=refreshes[-1][1])
    seconds = _seconds(running.stage.runner.compact)
    found.took("compaction", seconds, **point.work)
    found.files, found.bytes_each = _files(spark, root, running, point)
    _maintain(spark, root, point, found)
    _say(point, found)
    return found


@dataclass(frozen=True)
class Ticked:
    """The seconds of a tick, and the rows of `current` that were written again as they were."""

    landing: float
    tick: float
    tables: float
    refresh: float
    copied: int


def _ticks(spark: SparkSession, root: Path, running: Running, point: Point) -> Iterator[Ticked]:
    apart = point.open // point.touched
    for number in range(1, point.ticks + 2):
        key = f"(id % {point.touched}) * {apart} + {number % apart}"
        _write(spark, root, Rows(point.rows, key, f"{START + number * SECOND}"), number)
        times = [time.monotonic()]
        for work in (
            lambda: _land(running),
            running.tick,
            lambda: running.project(False),
            running.project,
        ):
            work()
            times.append(time.monotonic())
        seconds = [later - before for before, later in pairwise(times)]
        yield Ticked(*seconds, copied=_copied(running, point.touched))


def _land(running: Running) -> None:
    """Land what is there, with the tables of the source, as a stream does: with what it has opened at its start."""
    for landing in running.work.landings:
        landing.run()
    for source in running.work.sources:
        source.project()


def _write(spark: SparkSession, root: Path, rows: Rows, number: int) -> None:
    frame = spark.range(0, rows.count, 1, FILES_PER_BATCH).selectExpr(
        f"{rows.key} AS k", f"pmod(xxhash64(id, {number}), 1000) AS v", f"timestamp_micros({rows.at}) AS at"
    )
    write_batch(frame, root / "data", number)


def _copied(running: Running, changed: int) -> int:
    """The rows that the newest commit of `current` has written again as they were: all but those that changed."""
    log = sorted((Path(running.result) / "_delta_log").glob("0*.json"))[-1]
    added = [json.loads(line).get("add") for line in log.read_text().splitlines()]
    return max(0, sum(json.loads(one["stats"])["numRecords"] for one in added if one) - changed)


def _files(spark: SparkSession, root: Path, running: Running, point: Point) -> tuple[dict[str, int], dict[str, float]]:
    """The files that the newest commit of each table adds, and bytes: of a raw row, and of a cell of the journal."""
    tables = {f"{STAGE}/{name}": name for name in ("journal/1", "panes", "current", "ticks")}
    tables |= {f"{SOURCE}/{name}": f"source's {name}" for name in ("raw", "landings", "dead_letters")}
    files, size = {}, {}
    for path, name in tables.items():
        commits = CommitFiles(spark, str(root / "lake" / path))
        newest = max(int(one.stem) for one in (root / "lake" / path / "_delta_log").glob("0*.json"))
        added = commits.added(newest)
        files[name], size[name] = len(added), sum(file.size for file in added)
    return files, {"raw row": size["source's raw"] / point.rows, "pane": size["panes"] / max(point.touched, 1)}


def _maintain(spark: SparkSession, root: Path, point: Point, found: Found) -> None:
    """Maintenance behind the ticks, and once more, when there is nothing to do."""
    for step in ("maintenance", "repeated"):
        began = time.monotonic()
        done = maintain(pipeline(root, {"name": STAGE, **EVERY_CHANGE}), spark)
        seconds = time.monotonic() - began
        found.took(step, seconds, **point.work, files=_before(done), bytes=_rewritten(done))


def _before(done: list[Maintained]) -> int:
    return sum(one.before.files for one in done)


def _rewritten(done: list[Maintained]) -> int:
    """The bytes of the tables whose files it has put together."""
    return sum(one.after.bytes - one.before.bytes for one in done if one.after.bytes > one.before.bytes)


def _seconds(work: Callable[[], object]) -> float:
    began = time.monotonic()
    work()
    return time.monotonic() - began


def _say(point: Point, found: Found) -> None:
    said = (f"{step} {' '.join(format(one['seconds'], '.2f') for one in those)}" for step, those in found.steps.items())
    print(f"{point.name}: {', '.join(said)} s", file=sys.stderr, flush=True)
