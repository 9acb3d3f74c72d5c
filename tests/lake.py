"""A small pipeline for tests that need a lake: landing files, one stage with early, on-time and late panes, and poison.

Every file is one landing batch, rows carry their arrival time and no partition goes idle, so that a run over the same
files is the same whatever happens in between.
"""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from windrow.spec.pipelines.pipeline import Pipeline

BEHIND = "behind.json"
"""A file there with the stages behind that one, in the same way."""
TABLE = "table"
"""A Delta table there is read in place of the files."""
STAY = "stay"
"""A file of that name: the files are read in place."""
VIEWS = "views"
"""A folder there is that of a second source."""
STAGE = "stage.json"
"""A file beside the landing folder with fields of the stage, for processes that know nothing but the folder."""
SECONDS = 60
ROWS = 40


def rows_of(number: int) -> list[str]:
    """The lines of a file: mostly in order, some late, one of each kind of poison."""
    chance = random.Random(number)
    lines = []
    for index in range(ROWS):
        arrival = number * SECONDS + index
        at = arrival - chance.choice([0, 0, 0, 5, 20, 50, 90])
        row: dict[str, Any] = {"k": chance.choice(["a", "b", None]), "v": chance.randint(-3, 9), "d": 1}
        row.update(at=iso(at), arrived=iso(arrival))
        lines.append(json.dumps(row))
    arrived = iso(number * SECONDS)
    lines += [
        '{"k": "a", "v": ',
        json.dumps({"k": "a", "v": "many", "d": 1, "at": arrived, "arrived": arrived}),
        json.dumps({"k": "a", "v": 1, "d": 0, "at": arrived, "arrived": arrived}),
        json.dumps({"k": "a", "v": 1, "d": 1, "at": "300000-01-01T00:00:00Z", "arrived": arrived}),
    ]
    return lines


POISON = 4
"""Rows of each file that are dead: three when they land, one by its expression."""


def iso(second: int) -> str:
    """A time of the first of January 2024; second 0 is one o'clock."""
    second += 3600
    return f"2024-01-01T{second // 3600:02}:{second // 60 % 60:02}:{second % 60:02}Z"


def write_files(folder: Path, numbers: range) -> None:
    """The landing files of these numbers, with rising modification times."""
    import os

    folder.mkdir(parents=True, exist_ok=True)
    for number in numbers:
        path = folder / f"batch-{number:04}.json"
        path.write_text("\n".join(rows_of(number)) + "\n")
        os.utime(path, (1_700_000_000 + number, 1_700_000_000 + number))


def write_versions(spark: SparkSession, root: Path, numbers: range) -> None:
    """The rows of landing files as versions of a table, a file each, unless they are there; not those of no columns."""
    path, columns = str(root / TABLE), "k string, v long, d long, at string, arrived string"
    there = len(spark.read.format("delta").load(path).inputFiles()) if (root / TABLE).exists() else 0
    for number in numbers[there - numbers.start :] if there > numbers.start else numbers:
        lines = rows_of(number)
        rows = [json.loads(line) for line in (*lines[:ROWS], *lines[ROWS + 2 :])]
        values = [tuple(row[name.split()[0]] for name in columns.split(", ")) for row in rows]
        spark.createDataFrame(values, columns).coalesce(1).write.format("delta").mode("append").save(path)


def pipeline(root: Path, **stage: Any) -> Pipeline:
    """The pipeline over `root/data`, with its lake in `root/lake`; `stage` replaces fields of its stage."""
    fields = {
        "name": "sums", "select": {"share": "v / d"}, "keys": ["k"], "window": {"fixed": {"size": "30s"}},
        "trigger": {"after_watermark": {"early": {"after_count": 4}, "late": {"after_count": 1}}},
        "accumulation": "retracting", "allowed_lateness": "60s",
        "aggregates": {"num": {"count": "*"}, "total": {"sum": "v"}, "middle": {"mean": "v"}, "most": {"max": "v"}},
        "derive": {"twice": "total * 2"},
    }  # fmt: skip
    if (root / STAGE).exists():
        fields.update(json.loads((root / STAGE).read_text()))
    source = {
        "schema": "k string, v long, d long, at string, arrived string",
        "event_time": {"column": "at", "format": "iso8601"}, "arrival_time": {"column": "arrived", "format": "iso8601"},
        "watermark": {"bounded_delay": "10s"},
    }  # fmt: skip
    folders = {"clicks": "data", **({"views": VIEWS} if (root / VIEWS).exists() else {})}
    in_place = (root / TABLE).exists()
    read = {"delta": {"path": str(root / TABLE), "max_files_per_batch": 1}} if in_place else {}
    files = {"max_files_per_batch": 1, **({"copy": False} if (root / STAY).exists() else {})}
    sources = [
        {**source, "name": name, **(read or {"files": {"path": str(root / folder), **files}})}
        for name, folder in folders.items()
    ]
    if len(sources) > 1:
        fields.setdefault("from", "clicks")
    behind = json.loads((root / BEHIND).read_text()) if (root / BEHIND).exists() else []
    stages = [{**fields, **stage}, *behind]
    return Pipeline.from_mapping(
        {"pipeline": "tests", "lake": str(root / "lake"), "sources": sources, "stages": stages}
    )


def judged(root: Path) -> Pipeline:
    """The pipeline with a suite for its stage, and without lateness, so that a backfill finds late rows to take in."""
    suite = root / "sums.yaml"
    suite.write_text("- {expect: column_values_to_be_between, column: num, min_value: 1, severity: critical}\n")
    return pipeline(root, allowed_lateness="0s", quality=str(suite))


def table(spark: SparkSession, root: Path, name: str, stage: str = "sums") -> DataFrame:
    return spark.read.format("delta").load(f"{root}/lake/{stage}/{name}")


def content(spark: SparkSession, root: Path, name: str, stage: str = "sums") -> list[tuple[Any, ...]]:
    """The rows of a table without what a restart may change, sorted."""
    frame = table(spark, root, name, stage).drop("produced_at", "duration_ms", "offset")
    return sorted((tuple(row) for row in frame.collect()), key=repr)
