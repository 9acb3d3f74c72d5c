"""The DAG `<pipeline>_backfill` of a pipeline file: land, gate, compute, gate, publish, report.

Each run is over the windows that start in its data interval, or, by hand, in the params `from` and `to`. All of it goes
through one pool, which should have a single slot: one writer at a time.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

from airflow.sdk import DAG, BaseOperator, CronDataIntervalTimetable, Param, chain

from windrow.airflow.files import PipelineFile, schedule_of
from windrow.airflow.steps import STEPS, ReportStep, Step, WrongFile
from windrow.drivers.inspect.arrivals import Arrivals
from windrow.spec.pipelines.pipeline import Pipeline
from windrow.spec.pipelines.schedules import Schedule
from windrow.view.plan.pipeline import headline, plan_sections
from windrow.view.text.sections import laid_out

POOL = "windrow"
APPLICATION = Path(__file__).resolve().parents[1] / "cli" / "jobs" / "step.py"
BY_HAND = Schedule(cron="0 0 * * *", start=0)
"""Of a pipeline without a schedule its defaults hold."""
_TIME = "A time in ISO 8601, for a run by hand: the windows that start in [from, to)."
_ABOUT = """Each run is over the windows that start in its data interval, or, by hand, in the params `from` and `to`.
It publishes when all of them have expired, and waits until then.

```text
{plan}
```
"""
_WRONG = """**This pipeline file is wrong.** Every task fails with the error until it is fixed.

```text
{errors}
```
"""


def id_of(pipeline: str) -> str:
    """The id of the DAG of a pipeline."""
    return f"{pipeline}_backfill"


def backfill_dag(pipeline: Pipeline, file: Path, project: Path) -> DAG:
    """The DAG of a pipeline, whose steps read its file. Its page shows what `windrow plan` says of the file."""
    names = ", ".join(stage.name for stage in pipeline.stages)
    plan = f"{headline(pipeline)}\n\n{laid_out(plan_sections(pipeline), 100)}"
    dag = _dag(pipeline.pipeline, pipeline.schedule, f"Backfill of the stages {names}", _ABOUT.format(plan=plan))
    return _with_steps(dag, [_step(step, file, pipeline, project) for step in STEPS])


def wrong_dag(name: str, files: Sequence[PipelineFile]) -> DAG:
    """A DAG in place of that of a file that is wrong, or of files that share a name, on the schedule as far as known.

    It has the same tasks, so that a run which has begun goes on with them when the file is right again.
    """
    errors = "\n".join(file.words for file in files)
    schedules = [schedule_of(file.path) for file in files]
    dag = _dag(name, schedules[0] if len(schedules) == 1 else None, f"Wrong: {errors}", _WRONG.format(errors=errors))
    dag.tags.add("wrong")
    return _with_steps(dag, [WrongFile(task_id=step, error=errors) for step in STEPS])


def _dag(name: str, schedule: Schedule | None, description: str, page: str) -> DAG:
    return DAG(
        id_of(name),
        description=description,
        schedule=None if schedule is None else CronDataIntervalTimetable(schedule.cron, timezone=schedule.zone),
        start_date=None if schedule is None else _moment(schedule.start),
        end_date=None if schedule is None or schedule.end is None else _moment(schedule.end),
        catchup=False,
        max_active_runs=1,
        params={
            name: Param(None, type=["null", "string"], format="date-time", description=_TIME) for name in ("from", "to")
        },
        tags=["windrow"],
        doc_md=page,
    )


def _with_steps(dag: DAG, tasks: Sequence[BaseOperator]) -> DAG:
    for task in tasks:
        dag.add_task(task)
    chain(*tasks)
    tasks[-1].as_teardown()  # written whatever came before, and hides no failure of it
    return dag


def _step(step: str, file: Path, pipeline: Pipeline, project: Path) -> Step:
    schedule = pipeline.schedule or BY_HAND
    report = "out/" + pipeline.pipeline + "-{{ run_id | replace(':', '') | replace('+', '_') }}.html"
    made = ReportStep if step == STEPS[-1] else Step
    return made(
        task_id=step,
        application=str(APPLICATION),
        application_args=[
            step, str(file), "--project", str(project), "--run", "{{ run_id }}",
            "--from", "{{ params['from'] or (data_interval_start if not params['to'] else '') }}",
            "--to", "{{ params['to'] or (data_interval_end if not params['from'] else '') }}",
            "--output", str(project / report),
        ],
        lake=pipeline.lake,
        sources=[Arrivals.of(source) for source in pipeline.sources],
        schedule=schedule,
        name=f"{pipeline.pipeline} {step}",
        retries=schedule.retries,
        retry_delay=timedelta(seconds=30),
        pool=POOL,
    )  # fmt: skip


def _moment(micros: int) -> datetime:
    return datetime.fromtimestamp(micros / 1_000_000, UTC)
