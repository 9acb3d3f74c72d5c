"""The simulated lake: a stream whose ticks are all alike, a few of which are made by windrow and the others written.

Each tick has a file of its own, windows are as long as the time between two ticks, and each tick opens one window of
every key and completes that of the tick before. So a tick is the one before, a pace later.
"""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from deltalake import DeltaTable
from pyspark.sql import SparkSession

from bench.scale.history import History, Span
from bench.scale.landing_log import lengthen, touch
from bench.scale.tables import Growing
from windrow.drivers.pipeline.pipeline import PipelineWork
from windrow.drivers.pipeline.stage import StageWork
from windrow.spec.pipelines.pipeline import Pipeline
from windrow.spec.times import MINUTE, SECOND, parse_time
from windrow.store.delta.location import Lake

START = parse_time("2024-01-01T00:00:00Z")
PACE = 5 * MINUTE
KEYS = 4
AT = (-30, 10, 60, 120, 200)
"""When the events of a key are, in seconds behind the start of the tick's window: the first is of the window before."""
REAL_TICKS = 6
SOURCE, STAGE = "events", "changes"
TABLES = (
    f"{SOURCE}/raw", f"{SOURCE}/landings", f"{SOURCE}/dead_letters", f"{STAGE}/journal/1", f"{STAGE}/panes",
    f"{STAGE}/current", f"{STAGE}/ticks",
)  # fmt: skip
"""Those that gain a commit with every tick."""


def pipeline(root: Path) -> Pipeline:
    """The pipeline over `root/data`, with its lake in `root/lake`."""
    source = {
        "name": SOURCE, "schema": "k bigint, v bigint, at timestamp, arrived timestamp",
        "event_time": {"column": "at", "format": "timestamp"},
        "arrival_time": {"column": "arrived", "format": "timestamp"},
        "files": {"path": str(root / "data"), "format": "parquet", "max_files_per_batch": 1},
        "watermark": {"bounded_delay": "1m"},
    }  # fmt: skip
    stage = {
        "name": STAGE, "keys": ["k"], "window": {"fixed": {"size": "5m"}}, "accumulation": "accumulating",
        "trigger": {"repeat": {"after_count": 1}},
        "aggregates": {"n": {"count": "*"}, "total": {"sum": "v"}, "most": {"max": "v"}},
    }  # fmt: skip
    named = {"pipeline": "history", "lake": str(root / "lake")}
    return Pipeline.from_mapping({**named, "sources": [source], "stages": [stage]})


def write_file(root: Path, tick: int) -> None:
    """The file of a tick, which lands as the batch before it: batches are counted from 0."""
    start = START + tick * PACE
    rows = [
        {"k": key, "v": (7 * key + at) % 100, "at": start + at * SECOND, "arrived": start + 210 * SECOND}
        for key in range(KEYS)
        for at in AT
    ]
    times = pa.timestamp("us", "UTC")
    schema = pa.schema([("k", pa.int64()), ("v", pa.int64()), ("at", times), ("arrived", times)])
    (root / "data").mkdir(parents=True, exist_ok=True)
    file = root / file_name(tick)
    pq.write_table(pa.Table.from_pylist(rows, schema=schema), file)
    touch(file, tick - 1)


def file_name(tick: int) -> str:
    return f"data/batch-{tick:07}.parquet"


@dataclass(frozen=True)
class Seconds:
    """Those of a tick: to land its file, until its panes can be read, of the tables behind it, and of `current`."""

    landing: float
    tick: float
    tables: float
    refresh: float


@dataclass(frozen=True)
class Stepping:
    """The pipeline opened on its lake, for one tick after the other."""

    root: Path
    work: PipelineWork

    @classmethod
    def open(cls, spark: SparkSession, root: Path) -> Stepping:
        """Open it as a stream does at its start: with what a process that was killed may have left undone."""
        stepping = cls(root, PipelineWork.open(pipeline(root), spark))
        stepping.stage.catch_up()
        return stepping

    @property
    def stage(self) -> StageWork:
        (stage,) = self.work.stages
        return stage

    @property
    def tick(self) -> int:
        """The newest one."""
        last = self.stage.runner.last
        return 0 if last is None else last.tick

    def step(self) -> Seconds:
        """The next tick: a file lands, the stage ticks, its tables follow."""
        write_file(self.root, self.tick + 1)
        times = [time.monotonic(), *self._parts()]
        return Seconds(*(later - before for before, later in pairwise(times)))

    def _parts(self) -> Iterator[float]:
        for landing in self.work.landings:
            landing.run()
        for source in self.work.sources:
            source.project()
        yield time.monotonic()
        runner = self.stage.runner
        assert self.stage.ticked(runner.advance(runner.upstream.head(self.work.spark))) is not None, "nothing landed"
        yield time.monotonic()
        for refresh in (False, True):
            self.stage.project(refresh)
            yield time.monotonic()


def begin(spark: SparkSession, root: Path) -> None:
    """Make a lake with the first ticks, by windrow."""
    shutil.rmtree(root, ignore_errors=True)
    stepping = Stepping.open(spark, root)
    for _ in range(REAL_TICKS):
        stepping.step()
    stepping.stage.projections.settle()  # as maintenance does: of a table without rows it says how far that is


def lengthened(begun: Path, root: Path, span: Span) -> dict[str, int]:
    """Copy a lake that was begun, and make its history as long as that; how many commits, entries and files it has."""
    shutil.rmtree(root, ignore_errors=True)
    shutil.copytree(begun / "lake", root / "lake")
    shutil.copytree(begun / "data", root / "data")
    journal = root / "lake" / STAGE / "journal" / "1"
    counts = _counts(Growing(journal, REAL_TICKS, span.pace))
    commits = 0
    for name in TABLES:
        table = Growing(root / "lake" / name, REAL_TICKS, span.pace, counts)
        commits += History(table, span).write().version + 1
    _settled(root / "lake" / STAGE / "dead_letters" / "_delta_log", span.maintained(span.until))
    checkpoint = Path(Lake.of(str(root / "lake")).checkpoint(SOURCE))
    lengthen(checkpoint, span.until, lambda batch: str(root / file_name(batch + 1)))
    logs = [*(root / "lake").rglob("_delta_log")]
    entries = sum(1 for log in logs for file in log.iterdir() if file.is_file())
    return {"commits": commits, "entries": entries, "files": sum(map(_live, logs))}


def _settled(log: Path, tick: int) -> None:
    """Have the newest commit of a table without rows say that it is made up to a tick: the last maintenance did."""
    commit = max(log.glob("*.json"))
    actions = [json.loads(line) for line in commit.read_text().splitlines()]
    for info in (action["commitInfo"] for action in actions if "commitInfo" in action):
        info["userMetadata"] = json.dumps({**json.loads(info["userMetadata"]), "journal_step": tick})
    commit.write_text("".join(json.dumps(action) + "\n" for action in actions))


def _counts(journal: Growing) -> dict[str, int]:
    """What the newest tick has counted, as its control row says."""
    rows = next(one for add, one in zip(journal.added, journal.rows, strict=True) if "_kind=control" in add["path"])
    counts: dict[str, int] = json.loads(rows.column("_control")[0].as_py())["counts"]
    return counts


def _live(log: Path) -> int:
    return len(DeltaTable(log.parent.as_uri()).file_uris())
