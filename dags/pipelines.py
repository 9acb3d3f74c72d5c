"""A DAG `<pipeline>_backfill` for every pipeline file: land, gate, compute, gate, publish, report.

Each run is over the windows that start in its data interval, or, by hand, in the params `from` and `to`. The Spark work
of a task is `jobs/step.py`, submitted to the connection that the file's `schedule:` names. All of it goes through one
pool, `windrow`, which should have a single slot: one writer at a time. A gate that stopped is not tried again.

What became of a job is read from the audits in the lake, where each attempt at a step has a name of its own. A job that
has recorded nothing there has failed, and is tried again.

A run whose windows have not all expired publishes nothing and is rescheduled: it lands and looks again every
`poke_interval`, for `wait` at most, and then does what `on_timeout` says. That is no failed try, and holds no slot.

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
from uuid import uuid4

from airflow.providers.apache.spark.operators.spark_submit import SparkSubmitOperator
from airflow.sdk import DAG, CronDataIntervalTimetable, Param, chain, task
from airflow.sdk.exceptions import AirflowFailException, AirflowRescheduleException

from windrow.drivers.spark.jvm import class_archive, session_jars
from windrow.spec.errors import GATE_STOPPED, WINDOWS_WAIT, WRONG_INPUT, SpecError
from windrow.spec.pipelines.loading import load
from windrow.spec.pipelines.pipeline import Pipeline
from windrow.spec.pipelines.schedules import OnTimeout, Schedule
from windrow.store.delta.location import Lake
from windrow.store.journal.outcomes import StepOutcome, outcome_of

HOME = Path(__file__).resolve().parents[1]
PROJECT = Path(os.environ.get("WINDROW_PROJECT", HOME))
PIPELINES = Path(os.environ.get("WINDROW_PIPELINES", PROJECT / "conf" / "pipelines"))
POOL = "windrow"
FINAL = (WRONG_INPUT, GATE_STOPPED)
"""Exit codes of a step after which trying again would give the same."""
STEPS = ("land", "gate_rows", "compute", "gate_results", "publish", "report")
TIME = "A time in ISO 8601, for a run by hand: the windows that start in [from, to)."


class Step(SparkSubmitOperator):
    """One step of a backfill as a Spark job; `schedule` says how long it waits for windows that have not expired.

    `lake` is where the step records how each attempt has ended.
    """

    def __init__(self, *, lake: str, schedule: Schedule, **options: Any) -> None:
        super().__init__(**options)
        self.lake = lake
        self.wait = timedelta(microseconds=schedule.wait)
        self.poke_interval = timedelta(microseconds=schedule.poke_interval)
        self.on_timeout = schedule.on_timeout

    def execute(self, context: Any) -> Any:
        """Submit the job. A gate that stopped fails the task for good, a machine that failed lets it be tried again.

        Windows that have not expired let it be made again later.
        """
        has_waited = datetime.now(UTC) >= context["dag_run"].start_date + self.wait
        ends = has_waited and self.on_timeout is not OnTimeout.FAIL
        attempt = uuid4().hex
        self.application_args = [*self.application_args, "--attempt", attempt]
        if self.task_id == STEPS[0] or (self.task_id in ("compute", "publish") and ends):
            self.application_args.append(f"--{self.on_timeout.value if ends else 'wait'}")
        try:
            return super().execute(context)
        except Exception as error:
            told = self._told(self._outcome(context["run_id"], attempt), has_waited)
            if told is None:
                raise
            raise told from error

    def _outcome(self, run: str, attempt: str) -> StepOutcome | None:
        """What the step has recorded of an attempt that failed; None where there is nothing that can be read."""
        try:
            return outcome_of(Lake.of(self.lake), run, attempt)
        except SpecError as error:
            self.log.warning("What became of the step is not known: %s", error)
            return None

    def _told(self, outcome: StepOutcome | None, has_waited: bool) -> Exception | None:
        """What to tell Airflow of an attempt that failed; None where it is to be tried again."""
        match outcome:
            case StepOutcome(exit_code, message) if exit_code in FINAL:
                return AirflowFailException(f"{self.task_id}: {message}")
            case StepOutcome(exit_code, message) if exit_code == WINDOWS_WAIT and has_waited:
                return AirflowFailException(f"{self.task_id}: windows have not expired in {self.wait}: {message}")
            case StepOutcome(exit_code, message) if exit_code == WINDOWS_WAIT:
                self.log.info("Windows have not expired. Looking again in %s; %s", self.poke_interval, message)
                return AirflowRescheduleException(datetime.now(UTC) + self.poke_interval)
        return None


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
        tasks = [_task(step, file, pipeline) for step in STEPS]
        chain(*tasks)
        tasks[-1].as_teardown()  # written whatever came before, and hides no failure of it
    return dag


def _task(step: str, file: Path, pipeline: Pipeline) -> Step:
    schedule = pipeline.schedule or Schedule(cron="0 0 * * *", start=0)  # by hand only: the other defaults hold
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
        lake=pipeline.lake,
        schedule=schedule,
        conn_id=schedule.connection,
        jars=",".join(session_jars()),
        conf={
            "spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false",
            "spark.driver.extraJavaOptions": class_archive(),
        },
        name=f"{pipeline.pipeline} {step}",
        retries=schedule.retries,
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
