"""A run that ends between the two tables that hold what its gate has found: each judgement stands once in both."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.crash.ends import Ends, Kills, Stops
from tests.crash.runner import do
from tests.lake import judged, write_files
from windrow.drivers.pipeline.pipeline import PipelineWork

BETWEEN = "gate:after_audits"


@pytest.fixture(params=["stopped", pytest.param("killed", marks=[pytest.mark.long, pytest.mark.crash])])
def ends(request: pytest.FixtureRequest, spark: SparkSession) -> Ends:
    return Stops(spark) if request.param == "stopped" else Kills()


def judgements(spark: SparkSession, root: Path) -> tuple[list[tuple[str, str, int]], list[tuple[str, str, int]]]:
    """Run, subject and time of each judgement, as the audits and the table `quality_results` have them."""

    def rows(name: str, *columns: str, where: str = "true") -> list[tuple[str, ...]]:
        path = root / "lake" / name
        found = spark.read.format("delta").load(str(path)).where(where) if path.exists() else None
        return [] if found is None else [tuple(row) for row in found.selectExpr(*columns).collect()]

    kept = rows("_windrow/audits", "run", "subject", "result", where="step = 'gate'")
    audits = [(run, subject, int(json.loads(result)["judged"]["at"])) for run, subject, result in kept]
    results = [(run, stage, int(at)) for run, stage, at in rows("quality_results", "run", "stage", "unix_micros(at)")]
    return sorted(audits), sorted(results)


@pytest.mark.parametrize(
    ("task", "again", "run"),
    [
        ("backfill", "backfill", "monday"),
        pytest.param("judged", "judged", "stream", marks=pytest.mark.long),
        pytest.param("from_start", "judged", "stream", marks=pytest.mark.long),
    ],
)
def test_a_judgement_stands_once_in_the_audits_and_in_quality_results(
    spark: SparkSession, ends: Ends, tmp_path: Path, task: str, again: str, run: str
) -> None:
    """That of the process that was ended, and those of the runs behind it."""
    write_files(tmp_path / "data", range(2))
    if task == "backfill":
        land(tmp_path, spark)
    if task == "from_start":
        do("judged", tmp_path, spark)
    ends.at(BETWEEN, tmp_path, task)
    ended, results = judgements(spark, tmp_path)
    assert len(ended) == len(results) + 1, "it was ended between the two"
    for _ in range(2):
        do(again, tmp_path, spark)
        audits, results = judgements(spark, tmp_path)
        assert audits == results and len(set(results)) == len(results)
        assert set(ended) <= set(results) and {name for name, _, _ in results} == {run}


def land(root: Path, spark: SparkSession) -> None:
    """Land all files for a backfill, which reads what has landed."""
    for landing in PipelineWork.open(judged(root), spark).landings:
        landing.run()
