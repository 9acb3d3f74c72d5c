"""A DAG `<pipeline>_backfill` for every pipeline file: land, gate, compute, gate, publish, report.

Each run is over the windows that start in its data interval, or, by hand, in the params `from` and `to`. The Spark work
of a task is `jobs/step.py`, submitted to the connection that the file's `schedule:` names. All of it goes through one
pool, `windrow`, which should have a single slot: one writer at a time. A gate that stopped is not tried again.

| variable of the environment | what |
|---|---|
| `WINDROW_PROJECT` | where relative paths start, and `out/` has the reports. Default: the folder above this one |
| `WINDROW_PIPELINES` | the folder of the pipeline files. Default: `conf/pipelines` of the project |
"""

from __future__ import annotations

import os
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from airflow.providers.apache.spark.operators.spark_submit import SparkSubmitOperator
from airflow.sdk import DAG, CronDataIntervalTimetable, Param, chain, task
from airflow.sdk.exceptions import AirflowFailException

from windrow.run.jvm import class_archive, session_jars
from windrow.spec.errors import SpecError
from windrow.spec.loading import load
from windrow.spec.pipelines import Pipeline
from windrow.spec.schedules import Schedule

HOME = Path(__file__).resolve().parents[1]
PROJECT = Path(os.environ.get("WINDROW_PROJECT", HOME))
PIPELINES = Path(os.environ.get("WINDROW_PIPELINES", PROJECT / "conf" / "pipelines"))
POOL = "windrow"
FINAL = {2: "the pipeline file or a time is wrong", 3: "a gate stopped"}
"""Exit codes of a step after which trying again would give the same."""
STEPS = ("land", "gate_rows", "compute", "gate_results", "publish", "report")
TIME = "A time in ISO 8601, for a run by hand: the windows that start in [from, to)."


class Step(SparkSubmitOperator):
    """One step of a backfill as a Spark job."""

    def execute(self, context: Any) -> Any:
        """Submit the job. A gate that stopped fails the task for good, a machine that failed lets it be tried again."""
        try:
            return super().execute(context)
        except Exception as error:
            for code, reason in FINAL.items():
                if f"Error code is: {code}." in str(error):
                    raise AirflowFailException(f"{self.task_id}: {reason}; the log above says which") from error
            raise


def dag_of(file: Path) -> DAG:
    """The DAG of a pipeline file. Errors: SpecError."""
    pipeline = load(file, project=PROJECT)
    schedule = pipeline.schedule
    with DAG(
        f"{pipeline.pipeline}_backfill",
        description=f"Backfill of the stages {', '.join(stage.name for stage in pipeline.stages)}",
        schedule=None if schedule is None else CronDataIntervalTimetable(schedule.cron, timezone=schedule.zone),
        start_date=None if schedule is None else _moment(schedule.start),
        end_date=None if schedule is None or schedule.end is None else _moment(schedule.end),
        catchup=False,
        max_active_runs=1,
        params={
            name: Param(None, type=["null", "string"], format="date-time", description=TIME) for name in ("from", "to")
        },
        tags=["windrow"],
        doc_md=__doc__,
    ) as dag:
        tasks = [_task(step, file, pipeline, schedule) for step in STEPS]
        chain(*tasks)
        tasks[-1].as_teardown()  # written whatever came before, and hides no failure of it
    return dag


def _task(step: str, file: Path, pipeline: Pipeline, schedule: Schedule | None) -> Step:
    report = "out/" + pipeline.pipeline + "-{{ run_id | replace(':', '') | replace('+', '_') }}.html"
    return Step(
        task_id=step,
        application=str(HOME / "jobs" / "step.py"),
        application_args=[
            step, str(file), "--project", str(PROJECT), "--run", "{{ run_id }}",
            "--from", "{{ params['from'] or (data_interval_start if not params['to'] else '') }}",
            "--to", "{{ params['to'] or (data_interval_end if not params['from'] else '') }}",
            "--output", str(PROJECT / report),
        ],
        conn_id="spark_default" if schedule is None else schedule.connection,
        jars=",".join(session_jars()),
        conf={
            "spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false",
            "spark.driver.extraJavaOptions": class_archive(),
        },
        name=f"{pipeline.pipeline} {step}",
        retries=2 if schedule is None else schedule.retries,
        retry_delay=timedelta(seconds=30),
        pool=POOL,
    )  # fmt: skip


def _moment(micros: int) -> datetime:
    return datetime.fromtimestamp(micros / 1_000_000, UTC)


def _wrong(file: Path, error: SpecError) -> DAG:
    """A DAG that says what is wrong with its file, so that the others are there nevertheless."""
    name = re.sub(r"[^\w.-]", "_", file.stem)
    about = f"This file is wrong: {error}"
    with DAG(f"wrong_file_{name}", description=about, schedule=None, doc_md=str(error), tags=["windrow"]) as dag:

        @task(task_id="wrong_file")
        def wrong_file() -> None:
            raise AirflowFailException(str(error))

        wrong_file()
    return dag


for _file in sorted(PIPELINES.glob("*.yaml")):
    try:
        _dag = dag_of(_file)
    except SpecError as _error:
        _dag = _wrong(_file, _error)
    globals()[_dag.dag_id] = _dag
