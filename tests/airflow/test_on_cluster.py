"""A day of flights through Airflow's scheduler on a standalone cluster gives what it gives on this machine."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from demo.airflow import DAG, FILE
from demo.own_airflow import Airflow
from tests.airflow.flights import STAGE, project_of_one_stage
from tests.cluster import cluster
from windrow.drivers.pipeline.pipeline import PipelineWork
from windrow.drivers.recompute.backfill import Backfill
from windrow.spec.pipelines.loading import load
from windrow.spec.times import parse_time

pytestmark = [pytest.mark.airflow, pytest.mark.spark, pytest.mark.long]

FILES = 3
"""With them the watermark has passed the end of the first day, and its lateness."""
DAY = (parse_time("2013-01-01T03:00:00Z"), parse_time("2013-01-02T03:00:00Z"))


def rows(spark: SparkSession, project: Path, table: str) -> list[str]:
    """Those of the stage, without what another run of it may change."""
    frame = spark.read.format("delta").load(str(project / "lake" / "flights" / STAGE / table))
    return sorted(map(repr, frame.drop("produced_at", "tick").collect()))


def test_a_run_of_a_day(spark: SparkSession, tmp_path: Path) -> None:
    with cluster(tmp_path / "cluster") as workers:
        conf = {name: value for name, value in workers.conf.items() if not name.endswith(".memory")}
        submission = {"connection": "spark_local", "executor_memory": "700m", "driver_memory": "1g", "conf": conf}
        there = project_of_one_stage(tmp_path / "there", FILES, spark=submission)
        shutil.copytree(there, tmp_path / "here")
        connection = {"conn_type": "spark", "host": workers.master, "extra": {"deploy-mode": "client"}}
        more = {"AIRFLOW_CONN_SPARK_LOCAL": json.dumps(connection)}
        airflow = Airflow(tmp_path / "home", there, (there / FILE).parent, more)
        with airflow.running():
            airflow.unpause(DAG)
            airflow.backfill(DAG, "2013-01-01", "2013-01-02")
            assert [*airflow.wait_for(DAG, 1, seconds=600).values()] == ["success"]
        assert list((tmp_path / "cluster").glob("worker-*/app-*")), "an executor has run"
    here = load(FILE, project=tmp_path / "here")
    made = Backfill(PipelineWork.open(here, spark), "monday", *DAY)
    made.land()
    made.publish()
    for table in ("current", "panes"):
        found = rows(spark, there, table)
        assert found and found == rows(spark, tmp_path / "here", table), table
