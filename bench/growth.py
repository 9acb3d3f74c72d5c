"""How the seconds of a tick grow: with closed history, with open cells, with the rows of a tick, and with cores.

At each point a stage that shows every change takes rows that are not measured, and then some ticks that are, until
their panes can be read, and until its tables are projected. Beside it Spark's aggregation in update mode takes the same
landed rows into a MERGEd table. Then the two tables are compared row for row.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

from pyspark.sql import SparkSession

from bench import baselines, stages
from bench.baselines import Aggregation
from bench.results import console_for, listed, machine_of, new_table, save_json
from bench.stages import EVERY_CHANGE
from bench.workload import FILES_PER_BATCH, START, files_per_step, land, write_batch
from windrow.drivers.spark.session import local_session
from windrow.spec.times import MINUTE, SECOND

HISTORY_BATCHES = 10
HISTORY, OPEN_CELLS, TICK_ROWS, CORES = "closed history", "open cells", "rows of a tick", "cores"


@dataclass(frozen=True)
class Sizes:
    """The sizes that are measured, all from the greatest number of rows: 20 million give those of the names below."""

    rows: int
    ticks: int = 3

    @property
    def history(self) -> tuple[int, ...]:
        """Rows of windows that have expired: 100,000 and 1, 10 and 100 times as many."""
        return tuple(self.rows // 200 * factor for factor in (1, 10, 100))

    @property
    def open_cells(self) -> tuple[int, ...]:
        """10,000 to 1 million."""
        return tuple(self.rows // 2000 * factor for factor in (1, 10, 100))

    @property
    def touched(self) -> int:
        """The rows of a tick where those are not what grows, each of another key: 2,000."""
        return self.rows // 10_000

    @property
    def tick_rows(self) -> tuple[int, ...]:
        """2,000 to 2 million."""
        return tuple(self.touched * factor for factor in (1, 10, 100, 1000))

    @property
    def keys(self) -> int:
        """100,000."""
        return self.rows // 200


@dataclass(frozen=True)
class Rows:
    """The rows of a batch: how many, and the key and the event time (in microseconds) of a row by its `id`."""

    count: int
    key: str
    at: str


@dataclass
class Line:
    """The seconds of every tick at each size; those of `panes` end when the panes can be read, before other tables."""

    sizes: list[int] = field(default_factory=list)
    panes: list[list[float]] = field(default_factory=list)
    windrow: list[list[float]] = field(default_factory=list)
    spark: list[list[float]] = field(default_factory=list)


def closed_history(sizes: Sizes, rows: int) -> tuple[list[Rows], list[Rows]]:
    """A history of so many rows, ten a key and window, so more rows are more windows; then ticks behind it."""
    keys = max(sizes.touched, 1)
    spacing = 10 * MINUTE // (10 * keys)
    batch = rows // HISTORY_BATCHES
    before = [Rows(batch, f"id % {keys}", f"{START + n * batch * spacing} + id * {spacing}") for n in
              range(HISTORY_BATCHES)]  # fmt: skip
    end = (START + rows * spacing) // (10 * MINUTE) * 10 * MINUTE + 20 * MINUTE
    return before, [Rows(keys, "id", f"{end + n * SECOND}") for n in range(sizes.ticks + 1)]


def open_cells(sizes: Sizes, cells: int) -> tuple[list[Rows], list[Rows]]:
    """One window of so many keys, and ticks that touch some of them."""
    apart = cells // sizes.touched
    ticks = [Rows(sizes.touched, f"id * {apart} + {n % apart}", f"{START + n * SECOND}") for n in
             range(1, sizes.ticks + 2)]  # fmt: skip
    return [Rows(cells, "id", f"{START}")], ticks


def tick_rows(sizes: Sizes, rows: int) -> tuple[list[Rows], list[Rows]]:
    """One window of all keys, and ticks of so many rows."""
    key = f"pmod(xxhash64(id, {{n}}), {sizes.keys})"
    ticks = [Rows(rows, key.format(n=n), f"{START + n * SECOND}") for n in range(1, sizes.ticks + 2)]
    return [Rows(sizes.keys, "id", f"{START}")], ticks


SHAPES: Mapping[str, Callable[[Sizes, int], tuple[list[Rows], list[Rows]]]] = {
    HISTORY: closed_history, OPEN_CELLS: open_cells, TICK_ROWS: tick_rows,
}  # fmt: skip


def measure(spark: SparkSession, sizes: Sizes, root: Path) -> dict[str, Line]:
    """The lines that need one session."""
    found: dict[str, Line] = {}
    for name, points in ((HISTORY, sizes.history), (OPEN_CELLS, sizes.open_cells), (TICK_ROWS, sizes.tick_rows)):
        line = found[name] = Line()
        for size in points:
            _add(line, spark, root, name, size, *SHAPES[name](sizes, size))
    return found


def measure_cores(sizes: Sizes, root: Path, most: int | None = None) -> Line:
    """A line over the cores of Spark, each in a session of its own; no other session may run."""
    line = Line()
    for cores in _doubled(most or os.cpu_count() or 1):
        spark = local_session("windrow growth", master=f"local[{cores}]")
        try:
            _add(line, spark, root, CORES, cores, *tick_rows(sizes, sizes.tick_rows[-2]))
        finally:
            spark.stop()
    return line


def _doubled(most: int) -> Iterator[int]:
    """1, 2, 4 and so on, and the most."""
    cores = 1
    while cores < most:
        yield cores
        cores *= 2
    yield most


def _add(
    line: Line, spark: SparkSession, root: Path, name: str, size: int, before: Sequence[Rows], ticks: Sequence[Rows]
) -> None:
    """Measure a point, in a folder that is removed."""
    shutil.rmtree(root, ignore_errors=True)
    try:
        panes, ours, theirs = _point(spark, root, before, ticks)
    finally:
        shutil.rmtree(root, ignore_errors=True)
    line.sizes.append(size)
    line.panes.append(panes)
    line.windrow.append(ours)
    line.spark.append(theirs)
    seconds = f"{listed(panes)} s to a pane, {listed(ours)} s in all"
    print(f"{name} {size:,}: windrow {seconds}; Spark {listed(theirs)} s", file=sys.stderr, flush=True)


def _point(
    spark: SparkSession, root: Path, before: Sequence[Rows], ticks: Sequence[Rows]
) -> tuple[list[float], list[float], list[float]]:
    """The seconds of the ticks but for the first: windrow's to a pane, windrow's in all, and Spark's.

    Errors: AssertionError if results differ.
    """
    _write(spark, root, before, 0)
    query = Aggregation(spark, root, root / "spark", "default", True, baselines.fixed)
    running = stages.run_stages(spark, root, {"name": "changes", **EVERY_CHANGE})
    query.run(files_per_step(spark, root))
    _write(spark, root, ticks, len(before))
    panes, ours = stages.ticks_projected(running, len(ticks) - 1)
    batches = query.run(files_per_step(spark, root, len(before)))
    assert len(batches) == len(ticks)
    names = ("k", "window_start", "window_end", "n", "total", "most")
    tables = [spark.read.format("delta").load(path).select(*names) for path in (running.result, query.result)]
    assert not tables[0].exceptAll(tables[1]).count() and not tables[1].exceptAll(tables[0]).count()
    return panes, ours, [batch["durationMs"]["triggerExecution"] / 1000 for batch in batches[1:]]


def _write(spark: SparkSession, root: Path, batches: Sequence[Rows], first: int) -> None:
    """Write the batches and land them."""
    for number, rows in enumerate(batches, first):
        frame = spark.range(0, rows.count, 1, FILES_PER_BATCH).selectExpr(
            f"{rows.key} AS k", f"pmod(xxhash64(id, {number}), 1000) AS v", f"timestamp_micros({rows.at}) AS at"
        )
        write_batch(frame, root / "data", number)
    land(spark, root)


def report(spark: SparkSession, sizes: Sizes, lines: Mapping[str, Line], path: Path) -> None:
    """Print the lines, and write them to a file."""
    machine = machine_of(spark)
    console = console_for(machine, f"growth: medians of {sizes.ticks} ticks")
    for name, line in lines.items():
        columns = (
            "to a pane s",
            "to its first",
            "in all s",
            "to its first",
            "Spark and MERGE s",
            "speed: in all / Spark",
        )
        table = new_table(name, *columns)
        for size, *seconds in zip(line.sizes, line.panes, line.windrow, line.spark, strict=True):
            to_pane, whole, other = map(median, seconds)
            grown = to_pane / median(line.panes[0]), whole / median(line.windrow[0])
            values = (to_pane, grown[0], whole, grown[1], other, other / whole)
            table.add_row(f"{size:,}", *(f"{value:.2f}" for value in values))
        console.print(table)
    content: dict[str, Any] = {
        "machine": machine, "scale": asdict(sizes), "lines": {name: asdict(line) for name, line in lines.items()},
    }  # fmt: skip
    save_json(path, content)
