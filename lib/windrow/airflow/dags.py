"""The DAGs of a pipeline file, of each kind that its schedule names.

All tasks of a lake go through one pool with a single slot: one of its DAGs at a time writes.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

from airflow.sdk import DAG, BaseOperator, Param, chain
from airflow.sdk.definitions.deadline import DeadlineAlert, DeadlineReference

from windrow.airflow.assets import assets_of
from windrow.airflow.clean import Clean
from windrow.airflow.files import PipelineFile, schedule_of
from windrow.airflow.hooks import hooks_of
from windrow.airflow.kinds import CLEAN, KINDS, TEARDOWNS, Kind
from windrow.airflow.notify import LOGGED
from windrow.airflow.options import DagOptions
from windrow.airflow.pools import pool_of
from windrow.airflow.steps import STEPS, ReportStep, Step, WrongFile
from windrow.drivers.inspect.arrivals import Arrivals
from windrow.spec.pipelines.pipeline import Pipeline
from windrow.spec.pipelines.schedules import Schedule
from windrow.view.plan.pipeline import headline, plan_sections
from windrow.view.text.sections import laid_out

JOBS = Path(__file__).resolve().parents[1] / "cli" / "jobs"
BY_HAND = Schedule()
"""Of a pipeline without a schedule its defaults hold."""
LONGEST_DELAY = timedelta(minutes=30)
_TIME = "A time in ISO 8601, for a run by hand: the windows that start in [from, to)."
_ABOUT = """{about}

```text
{plan}
```

Its tasks take a slot of the pool `{pool}`, and do not run where there is no such pool: `python -m windrow.airflow
pools` writes it for `airflow pools import`.

{assets}
"""
_WRONG = """**This pipeline file is wrong.** Every task fails with the error until it is fixed.

```text
{errors}
```
"""


def dags_of_pipeline(pipeline: Pipeline, file: Path, project: Path, options: DagOptions) -> list[DAG]:
    """The DAGs of a pipeline, whose steps read its file. Their pages show what `windrow plan` says of the file."""
    schedule, plan = pipeline.schedule or BY_HAND, _plan(pipeline)
    return [
        _dag_of_kind(kind, pipeline, file, project, options, plan)
        for kind in KINDS
        if kind.when(pipeline.pipeline, schedule) is not None
    ]


def wrong_dags(name: str, files: Sequence[PipelineFile], options: DagOptions) -> list[DAG]:
    """DAGs in place of those of a file that is wrong, or of files that share a name, on the schedule as far as known.

    They have the same tasks, so that a run which has begun goes on with them when the file is right again.
    """
    errors = "\n".join(file.words for file in files)
    schedules = [schedule_of(file.path) for file in files]
    schedule = schedules[0] if len(schedules) == 1 and schedules[0] is not None else BY_HAND
    page, made = _WRONG.format(errors=errors), []
    for kind in KINDS:
        if kind.when(name, schedule) is not None:
            dag = _dag(kind, name, schedule, options, f"Wrong: {errors}", page)
            dag.tags.add("wrong")
            made.append(_with_tasks(dag, [WrongFile(task_id=step, error=errors) for step in kind.steps]))
    return made


def _dag_of_kind(kind: Kind, pipeline: Pipeline, file: Path, project: Path, options: DagOptions, plan: str) -> DAG:
    assets = [f"- `{asset.name}`: `{asset.uri}`" for asset in assets_of(pipeline).values()] if kind.publishes else []
    pool, schedule = options.pool or pool_of(pipeline.lake), pipeline.schedule or BY_HAND
    changed = "\n".join(["Assets that have an event when their table changes:", "", *assets] if assets else [])
    page = _ABOUT.format(about=kind.about, plan=plan, pool=pool, assets=changed)
    names = ", ".join(stage.name for stage in pipeline.stages)
    dag = _dag(kind, pipeline.pipeline, schedule, options, f"{kind.name.capitalize()} of {names}", page)
    return _with_tasks(dag, [_task(kind, step, file, pipeline, project, options) for step in kind.steps])


def _dag(kind: Kind, name: str, schedule: Schedule, options: DagOptions, description: str, page: str) -> DAG:
    time = partial(Param, None, type=["null", "string"], format="date-time", description=_TIME)
    return DAG(
        kind.dag_id(name),
        description=description,
        catchup=False,
        max_active_runs=1,
        params={"from": time(), "to": time()} if kind.has_span else {},
        tags=["windrow", *schedule.tags],
        doc_md=page,
        dagrun_timeout=kind.lasts(schedule),
        deadline=None if schedule.deadline is None or kind.goes_on(schedule) else _alert(schedule.deadline, options),
        on_failure_callback=options.on_failure,  # type: ignore[arg-type]
        **(kind.when(name, schedule) or {}),
    )


def _alert(deadline: int, options: DagOptions) -> DeadlineAlert:
    callback = options.on_deadline or LOGGED
    return DeadlineAlert(DeadlineReference.DAGRUN_QUEUED_AT, timedelta(microseconds=deadline), callback)


def _with_tasks(dag: DAG, tasks: Sequence[BaseOperator]) -> DAG:
    for task in tasks:
        dag.add_task(task)
    chain(*tasks)
    for task in tasks:
        if task.task_id in TEARDOWNS:
            task.as_teardown()  # hides no failure of what came before
    return dag


def _task(kind: Kind, step: str, file: Path, pipeline: Pipeline, project: Path, options: DagOptions) -> BaseOperator:
    schedule = pipeline.schedule or BY_HAND
    goes_on = kind.goes_on(schedule)
    common: dict[str, Any] = {
        "task_id": step,
        "owner": schedule.owner,
        "retries": schedule.retries,
        "retry_delay": timedelta(seconds=30),
        "retry_exponential_backoff": 2,
        "max_retry_delay": LONGEST_DELAY,
        "execution_timeout": None if goes_on else timedelta(microseconds=schedule.execution_timeout),
        "pool": options.pool or ("default_pool" if goes_on else pool_of(pipeline.lake)),
        **hooks_of(kind, step, pipeline, options),
    }
    if step == CLEAN:
        stages = [stage.name for stage in pipeline.stages]
        return Clean(lake=pipeline.lake, run=kind.run_of("{{ run_id }}"), stages=stages, **common)
    is_step = step in STEPS
    made = ReportStep if step == STEPS[-1] else Step
    return made(
        application=str(JOBS / ("step.py" if is_step else "job.py")),
        application_args=[
            step, str(file), "--project", str(project), "--run", "{{ run_id }}",
            *(_span_of_run(pipeline, project) if is_step else kind.arguments(schedule)),
        ],
        lake=pipeline.lake,
        sources=[Arrivals.of(source) for source in pipeline.sources],
        schedule=schedule,
        name=f"{pipeline.pipeline} {step}",
        **common,
    )  # fmt: skip


def _span_of_run(pipeline: Pipeline, project: Path) -> list[str]:
    """The arguments of a step of a backfill."""
    report = "out/" + pipeline.pipeline + "-{{ run_id | replace(':', '') | replace('+', '_') }}.html"
    return [
        "--from", "{{ params['from'] or (data_interval_start if not params['to'] else '') }}",
        "--to", "{{ params['to'] or (data_interval_end if not params['from'] else '') }}",
        "--output", str(project / report),
    ]  # fmt: skip


def _plan(pipeline: Pipeline) -> str:
    return f"{headline(pipeline)}\n\n{laid_out(plan_sections(pipeline), 100)}"
