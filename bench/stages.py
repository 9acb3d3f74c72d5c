"""What is measured of windrow: stages with journal, cells and all projections on, a backfill, and small ticks."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from bench.workload import END, FEW_KEYS, GAP, NEAR, START, open_work, pipeline
from windrow.drivers.pipeline.pipeline import PipelineWork
from windrow.drivers.pipeline.stage import StageWork
from windrow.drivers.recompute.backfill import backfill
from windrow.drivers.stream.pace import pace_of_current, pace_of_tables
from windrow.drivers.stream.stream import run

EVERY_CHANGE: dict[str, Any] = {"trigger": {"repeat": {"after_count": 1}}}
"""A pane for every cell that a tick changes: what Spark's update mode emits."""
ON_TIME: dict[str, Any] = {}
"""A pane when the watermark passes the end of the window: what Spark's append mode emits."""

SESSIONS: dict[str, Any] = {"window": {"sessions": {"gap": f"{GAP}s", "merge_touching": True}}}
"""Sessions at the watermark: what Spark's session windows emit in append mode; they have no update mode."""

LENGTHS: dict[str, Any] = {
    "keys": [], "window": {"fixed": {"size": "10m"}},
    "aggregates": {"n": {"count": "*"}, "total": {"sum": "n"}, "most": {"max": "n"}},
}  # fmt: skip
"""How many sessions end in each ten minutes, and how many rows they have: a stage behind that of the sessions."""
SLIDING: dict[str, Any] = {
    "window": {"sliding": {"size": "1h", "period": "1m"}}, "keys": [{"k": f"pmod(k, {FEW_KEYS})"}],
}  # fmt: skip
RECORDS: dict[str, Any] = {"window": {"record": {"difference": f"{NEAR}s"}}}
"""For each element the window that ends at it, and the one that starts behind it."""


@dataclass
class Running:
    """Stages, each behind the one before, that have taken the large batches and can go on with small ones."""

    spark: SparkSession
    root: Path
    work: PipelineWork
    ticks: int = 0

    @property
    def stage(self) -> StageWork:
        """The last one."""
        return self.work.stages[-1]

    @property
    def result(self) -> str:
        """The path of its table `current`."""
        return str(self.root / "lake" / self.stage.name / "current")

    def tick(self) -> bool:
        """One tick of each as the stream makes it, with the look at the head of the log; whether there was anything."""
        moved = [self._ticked(stage) for stage in self.work.stages]
        self.ticks += moved[0]
        return any(moved)

    def _ticked(self, stage: StageWork) -> bool:
        runner = stage.runner
        return stage.ticked(runner.advance(runner.upstream.head(self.work.spark))) is not None

    def project(self, refresh: bool = True) -> None:
        """Project the tables, `current` only with `refresh`."""
        for stage in self.work.stages:
            stage.project(refresh)


def run_stages(spark: SparkSession, root: Path, *stages: dict[str, Any]) -> Running:
    """Take all that is landed, one landing batch a tick, and project the tables as the stream does behind the head."""
    running = Running(spark, root, open_work(spark, root, *stages))
    tables, current = pace_of_tables(), pace_of_current()
    while running.tick():
        if tables.is_due():
            began, refresh = time.monotonic(), current.is_due()
            running.project(refresh)
            tables.took(began)
            if refresh:
                current.took(began)
    running.project()
    return running


def run_files(spark: SparkSession, root: Path, lake: str, fields: dict[str, Any]) -> str:
    """Take all files into a stage in a lake of its own, as `windrow run --once` does; the path of its result."""
    run(pipeline(root, {"name": "changes", **fields}, lake=lake), spark, once=True)
    return str(root / lake / "changes" / "current")


def run_backfill(spark: SparkSession, root: Path, name: str, fields: dict[str, Any]) -> str:
    """Backfill everything into a stage that is new; the path of its result."""
    (result,) = backfill(pipeline(root, {"name": name, **fields}), spark, START, END, whole=True)
    assert result.inserted == result.windows
    return str(root / "lake" / name / "current")


def small_ticks(running: Running, count: int, project: bool) -> list[float]:
    """The seconds of each of the next ticks, but for the first."""
    seconds = [_seconds_of_tick(running, project) for _ in range(count + 1)]
    running.project()
    return [whole if project else to_pane for to_pane, whole in seconds[1:]]


def ticks_projected(running: Running, count: int) -> tuple[list[float], list[float]]:
    """The same of ticks that are projected one by one: the seconds until the panes can be read, and those in all."""
    to_pane, whole = zip(*(_seconds_of_tick(running, True) for _ in range(count + 1)), strict=True)
    return [*to_pane[1:]], [*whole[1:]]


def _seconds_of_tick(running: Running, project: bool) -> tuple[float, float]:
    """The seconds of the next tick until its panes can be read, and in all."""
    started = time.monotonic()
    assert running.tick(), "there are not enough small batches"
    to_pane = time.monotonic() - started
    if project:
        running.project()
    return to_pane, time.monotonic() - started
