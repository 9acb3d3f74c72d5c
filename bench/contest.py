"""One run of the bench: everybody over the same landed rows, in rounds, and a check that they made the same."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from bench import baselines, stages
from bench.baselines import Aggregation
from bench.results import Results
from bench.stages import EVERY_CHANGE, LENGTHS, ON_TIME, RECORDS, SESSIONS, SLIDING, Running
from bench.workload import FILES_PER_BATCH, RULES, Scale, files_per_step, generate, land, raw_table

LANDING, BARE_APPEND = "windrow: landing", "Spark: bare stream append of the same files"
FILES, SPARK_FILES = "windrow: files to `current`", "Spark: files straight to a MERGEd table"
LANDING_RULES = "windrow: landing, ten rules of rows"
CHANGES, ON_CLOSE = "windrow: stage, every change", "windrow: stage, on time"
BACKFILL, GROUP_BY = "windrow: backfill", "Spark: batch GROUP BY"
CHAIN, SPARK_CHAIN = "windrow: sessions and a stage behind", "Spark: session_window, window and bare append"
SLIDING_ON_CLOSE, SPARK_SLIDING = "windrow: 1 h by 1 m, on time", "Spark: window of 1 h by 1 m and bare append"
RECORD_BACKFILL, RANGE_FRAME = "windrow: record windows, backfill", "Spark: batch range frame"
SESSIONS_ON_CLOSE, SPARK_SESSIONS = "windrow: sessions, on time", "Spark: session_window and bare append"
PARTS = ("landing", "files", "fixed", "sessions", "chain", "sliding", "backfill", "records")
"""What can be measured by itself; small ticks belong to the fixed windows."""
TICK, TICK_PROJECTED = "windrow: tick, journal only", "windrow: tick, projected"
SMALL_MERGES, SMALL_APPENDS = "Spark: micro-batch and MERGE", "Spark: micro-batch, bare append"


def merges(store: str) -> str:
    return f"Spark: aggregation and MERGE ({store} store)"


def appends(store: str) -> str:
    return f"Spark: aggregation and bare append ({store} store)"


@dataclass
class Contest:
    """A run in a folder of its own. The newest of each query of Spark and stage of windrow goes on with small ticks."""

    spark: SparkSession
    scale: Scale
    root: Path
    stores: tuple[str, ...] = ("default",)
    parts: frozenset[str] = frozenset(PARTS)
    results: Results = field(default_factory=Results)
    _running: dict[str, Running] = field(default_factory=dict)
    _queries: dict[str, Aggregation] = field(default_factory=dict)
    _paths: dict[str, str] = field(default_factory=dict)

    def run(self) -> Results:
        """Generate, land, every contestant in every round, the check, the small ticks. Errors: AssertionError."""
        generate(self.spark, self.scale, self.root / "data", range(self.scale.batches))
        for number in range(self.scale.rounds):
            self._land(number)
        for number in range(self.scale.rounds if "files" in self.parts else 0):
            self._from_end_to_end(number)
        files = files_per_step(self.spark, self.root)
        for number in range(self.scale.rounds):
            self._stream(number, files)
            self._batch(number)
        self._check()
        if self.scale.small_ticks and "fixed" in self.parts:
            self._small_ticks()
        return self.results

    def _timed(self, name: str, work: Callable[[], Any]) -> Any:
        return self.results.timed(self.spark, name, work)

    # ---------------------------------------------------------------- all rows

    def _land(self, number: int) -> None:
        """The first round lands into the lake that everybody reads."""
        spark, root = self.spark, self.root
        if "landing" in self.parts or number == 0:
            self._timed(LANDING, lambda: land(spark, root, f"landed-{number}" if number else "lake"))
        if "landing" not in self.parts:
            return
        self._timed(LANDING_RULES, lambda: land(spark, root, f"ruled-{number}", RULES))
        self._timed(BARE_APPEND, lambda: baselines.run_append(spark, root, root / f"appended-{number}"))

    def _from_end_to_end(self, number: int) -> None:
        """From the files to the table that is read, with nothing landed before: every change shown by both."""
        spark, root, store = self.spark, self.root, self.stores[0]
        query = Aggregation(spark, root, root / f"files-{number}", store, True, baselines.fixed, reads_files=True)
        batches = self._timed(SPARK_FILES, lambda: query.run(FILES_PER_BATCH))
        ours = partial(stages.run_files, spark, root, f"files_{number}", EVERY_CHANGE)
        self._paths[SPARK_FILES], self._paths[FILES] = query.result, self._timed(FILES, ours)
        assert len(batches) == self.scale.batches
        names = ("k", "window_start", "window_end", "n", "total", "most")
        theirs, found = (self._table(name).select(*names) for name in (SPARK_FILES, FILES))
        assert not theirs.exceptAll(found).count() and not found.exceptAll(theirs).count(), (FILES, SPARK_FILES)

    def _stream(self, number: int, files: int) -> None:
        """Spark's and windrow's in turns."""
        if "fixed" in self.parts:
            self._fixed(number, files)
        store = self.results.store = self.results.store or self.stores[0]
        if "sessions" in self.parts:
            self._query(SPARK_SESSIONS, number, store, files, baselines.sessions)
            self._stages(SESSIONS_ON_CLOSE, {"name": f"sessions_{number}", **SESSIONS})
        if "chain" in self.parts:
            self._query(SPARK_CHAIN, number, store, files, baselines.chain)
            chained = f"chained_{number}"
            lengths = {**LENGTHS, "name": f"lengths_{number}", "from": chained}
            self._stages(CHAIN, {"name": chained, **SESSIONS}, lengths)
        if "sliding" in self.parts:
            self._query(SPARK_SLIDING, number, store, files, baselines.sliding)
            self._stages(SLIDING_ON_CLOSE, {"name": f"sliding_{number}", **SLIDING})

    def _fixed(self, number: int, files: int) -> None:
        """All stores in the first round, the fastest from then on; like follows like."""
        for store in (self.results.store,) if number else self.stores:
            self._query(merges(store), number, store, files, baselines.fixed)
        self.results.store = min(self.stores, key=lambda store: self.results.rounds[merges(store)][0])
        store = self.results.store
        self._stages(CHANGES, {"name": f"changes_{number}", **EVERY_CHANGE})
        self._query(appends(store), number, store, files, baselines.fixed)
        self._stages(ON_CLOSE, {"name": f"on_time_{number}", **ON_TIME})

    def _stages(self, name: str, *made: dict[str, Any]) -> None:
        running = self._timed(name, lambda: stages.run_stages(self.spark, self.root, *made))
        assert running.ticks == self.scale.batches
        self._running[name], self._paths[name] = running, running.result

    def _query(self, name: str, number: int, store: str, files: int, shape: Callable[[DataFrame], DataFrame]) -> None:
        is_merging = name == merges(store)
        folder = self.root / f"{shape.__name__}-{store}-{'merged' if is_merging else 'appended'}-{number}"
        query = Aggregation(self.spark, self.root, folder, store, is_merging, shape)
        batches = self._timed(name, lambda: query.run(files))
        assert len(batches) == self.scale.batches
        self._queries[name], self._paths[name] = query, query.result

    def _batch(self, number: int) -> None:
        spark, root = self.spark, self.root
        for part, name, fields, theirs, query in (
            ("backfill", BACKFILL, ON_TIME, GROUP_BY, baselines.run_group_by),
            ("records", RECORD_BACKFILL, RECORDS, RANGE_FRAME, baselines.run_range_frame),
        ):
            if part in self.parts:
                ours = partial(stages.run_backfill, spark, root, f"{part}_{number}", fields)
                self._paths[name] = self._timed(name, ours)
                self._paths[theirs] = self._timed(theirs, partial(query, spark, root, root / f"{part}-{number}"))

    # ---------------------------------------------------------------- what they made

    def _check(self) -> None:
        """All rows are in every result; those of closed windows have fewer, and agree on what both hold."""
        store, rows = self.results.store, self.spark.read.format("delta").load(raw_table(self.root)).count()
        whole = [
            self._sums(name)
            for name in (FILES, SPARK_FILES, CHANGES, merges(store), BACKFILL, GROUP_BY)
            if name in self._paths
        ]
        assert rows == self.scale.rows and all(sums[1] == rows for sums in whole) and len(set(whole)) <= 1, whole
        for ours, theirs in (
            (ON_CLOSE, appends(store)), (SESSIONS_ON_CLOSE, SPARK_SESSIONS), (CHAIN, SPARK_CHAIN),
            (SLIDING_ON_CLOSE, SPARK_SLIDING),
        ):  # fmt: skip
            if ours not in self._paths:
                continue
            closed = self._table(theirs).agg({"window_end": "max"}).first()[0]
            if closed is not None:
                assert self._sums(ours, closed) == self._sums(theirs, closed), (ours, closed)
        records = [name for name in (RECORD_BACKFILL, RANGE_FRAME) if name in self._paths]
        most = {self._table(name).agg({"n": "max"}).first()[0] for name in records}
        assert len(most) <= 1, most

    def _sums(self, name: str, until: Any = None) -> tuple[int, ...]:
        table = self._table(name)
        if until is not None:
            table = table.where(table.window_end <= until)
        return tuple(table.selectExpr("count(1)", "sum(n)", "sum(total)", "sum(most)").first())

    def _table(self, name: str) -> Any:
        return self.spark.read.format("delta").load(self._paths[name])

    # ---------------------------------------------------------------- small ticks

    def _small_ticks(self) -> None:
        """Small batches into what is warm: half of them without projections, half with, beside Spark's own queries."""
        scale, small, store = self.scale, self.results.small, self.results.store
        generate(self.spark, scale, self.root / "data", range(scale.batches, scale.batches + scale.small_batches))
        land(self.spark, self.root)
        small[TICK] = stages.small_ticks(self._running[CHANGES], scale.small_ticks, False)
        small[TICK_PROJECTED] = stages.small_ticks(self._running[CHANGES], scale.small_ticks, True)
        files = files_per_step(self.spark, self.root, scale.batches)
        for name, query in ((SMALL_MERGES, merges(store)), (SMALL_APPENDS, appends(store))):
            batches = self._queries[query].run(files)
            assert len(batches) == scale.small_batches
            small[name] = [batch["durationMs"]["triggerExecution"] / 1000 for batch in batches[1:]]
