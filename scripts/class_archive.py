"""One pass through what a run does, for a JVM that archives the classes which it has loaded: see `make setup`.

SPARK_SUBMIT_OPTS=-XX:ArchiveClassesAtExit=FILE spark-submit --jars ... scripts/class_archive.py
"""

import json
import tempfile
from pathlib import Path

from windrow.drivers.pipeline.pipeline import PipelineWork
from windrow.drivers.recompute.backfill import Backfill
from windrow.drivers.spark.session import submitted_session
from windrow.drivers.stream.stream import run
from windrow.spec.pipelines.pipeline import Pipeline
from windrow.spec.times import DAY, parse_time


def pipeline(root: Path) -> Pipeline:
    """Early, on-time and late panes with retractions over a file of poison, late and ordinary rows, judged twice."""
    suite = root / "suite.yaml"
    suite.write_text("- {expect: column_values_to_not_be_null, column: k, severity: warning}\n")
    (root / "data").mkdir()
    for number, seconds in enumerate([(0, 1, 2, 40), (3, 90)]):
        rows = [json.dumps({"k": "a", "v": at, "at": f"2024-01-01T00:{at // 60:02}:{at % 60:02}Z"}) for at in seconds]
        (root / "data" / f"{number}.json").write_text("\n".join([*rows, "{"]) + "\n")
    source = {
        "name": "rows", "files": {"path": str(root / "data"), "max_files_per_batch": 1},
        "schema": "k string, v bigint, at string", "event_time": {"column": "at", "format": "iso8601"},
        "watermark": {"bounded_delay": "10s"}, "quality": str(suite),
    }  # fmt: skip
    stage = {
        "name": "sums", "keys": ["k"], "window": {"fixed": {"size": "30s"}}, "accumulation": "retracting",
        "trigger": {"after_watermark": {"early": {"after_count": 2}, "late": {"after_count": 1}}},
        "aggregates": {"num": {"count": "*"}, "total": {"sum": "v"}, "middle": {"mean": "v"}}, "quality": str(suite),
    }  # fmt: skip
    return Pipeline.from_mapping(
        {"pipeline": "archive", "lake": str(root / "lake"), "sources": [source], "stages": [stage]}
    )


def main() -> None:
    """Stream to the end, and backfill with its gates."""
    spark = submitted_session("class archive")
    with tempfile.TemporaryDirectory() as folder:
        made = pipeline(Path(folder))
        start = parse_time("2024-01-01T00:00:00Z")
        run(made, spark, once=True, drain=True)
        Backfill(PipelineWork.open(made, spark), "archive", start, start + DAY).publish()
    spark.stop()


if __name__ == "__main__":
    main()
