"""The DAGs of a pipeline file, of each kind that its schedule names.

All tasks of a lake go through one pool with a single slot: one of its DAGs at a time writes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

from airflow.sdk import DAG, BaseOperator, Param, chain
from airflow.sdk.definitions.deadline import DeadlineAlert, DeadlineReference

from windrow.airflow.files import PipelineFile, schedule_of
from windrow.airflow.kinds import CLEAN, KINDS, TEARDOWNS, TELL, Kind, When, run_argument
from windrow.airflow.options import DagOptions
from windrow.airflow.pools import pool_of
from windrow.airflow.tasks.clean import Clean
from windrow.airflow.tasks.hooks import hooks_of, watch_of
from windrow.airflow.tasks.report import ReportStep
from windrow.airflow.tasks.steps import REPORT, STEPS, Step, TellStep, WrongFile
from windrow.airflow.telling.assets import assets_of
from windrow.airflow.telling.notify import LOGGED
from windrow.airflow.telling.watchers import Watched, watched_of
from windrow.spec.pipelines.pipeline import Pipeline
from windrow.spec.pipelines.schedules import Schedule
from windrow.view.plan.pipeline import headline, plan_sections
from windrow.view.text.sections import laid_out

JOBS = Path(__file__).resolve().parents[1] / "cli" / "jobs"
BY_HAND = Schedule()
"""Of a pipeline without a schedule its defaults hold."""
LONGEST_DELAY = timedelta(minutes=30)
_RUN = "{{ run_id }}"
_TIME = "A time in ISO 8601, for a run by hand: the windows that start in [from, to)."
_SPAN = (
    "--from", "{{ params['from'] or (data_interval_start if not params['to'] else '') }}",
    "--to", "{{ params['to'] or (data_interval_end if not params['from'] else '') }}",
)  # fmt: skip
"""The arguments of a step of a backfill."""
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
    return _Dags(pipeline, file, project, options).made()


def wrong_dags(name: str, files: Sequence[PipelineFile], options: DagOptions) -> list[DAG]:
    """DAGs in place of those of a file that is wrong, or of files that share a name, on the schedule as far as known.

    They have the same tasks, so that a run which has begun goes on with them when the file is right again. Of files
    that share a name the schedule is that of the first.
    """
    errors = "\n".join(file.words for file in files)
    schedule = next(filter(None, (schedule_of(file.path) for file in files)), BY_HAND)
    made = []
    for kind, when in _kinds(schedule, watched_of(name, None, schedule)):
        page, told = _WRONG.format(errors=errors), options.on_failure
        dag = _dag(kind.dag_id(name), schedule.tags, f"Wrong: {errors}", page, on_failure_callback=told, **when)
        dag.tags.add("wrong")
        made.append(_with_tasks(dag, [WrongFile(task_id=step, error=errors) for step in kind.steps]))
    return made


@dataclass(frozen=True)
class _Dags:
    """The DAGs of a pipeline, and their tasks."""

    pipeline: Pipeline
    file: Path
    project: Path
    options: DagOptions

    @property
    def schedule(self) -> Schedule:
        return self.pipeline.schedule or BY_HAND

    @property
    def pool(self) -> str:
        return self.options.pool or pool_of(self.pipeline.lake)

    def made(self) -> list[DAG]:
        name, schedule = self.pipeline.pipeline, self.schedule
        plan = f"{headline(self.pipeline)}\n\n{laid_out(plan_sections(self.pipeline), 100)}"
        stages, assets = ", ".join(stage.name for stage in self.pipeline.stages), self._assets()
        found = []
        for kind, when in _kinds(schedule, watched_of(name, self.pipeline, schedule)):
            page = _ABOUT.format(about=kind.about, plan=plan, pool=self.pool, assets=assets if kind.publishes else "")
            about = f"{kind.name.capitalize()} of {stages}"
            dag = _dag(kind.dag_id(name), schedule.tags, about, page, **self._limits(kind), **when)
            found.append(_with_tasks(dag, [self._task(kind, step) for step in kind.steps]))
        return found

    def _assets(self) -> str:
        assets = [f"- `{asset.name}`: `{asset.uri}`" for asset in assets_of(self.pipeline).values()]
        return "\n".join(["Assets that have an event when their table changes:", "", *assets])

    def _limits(self, kind: Kind) -> dict[str, Any]:
        """What a run of this kind is given and how long it may last, and who is told."""
        time = partial(Param, None, type=["null", "string"], format="date-time", description=_TIME)
        deadline = None if kind.goes_on(self.schedule) else self.schedule.deadline
        return {
            "params": {"from": time(), "to": time()} if kind.has_span else {},
            "dagrun_timeout": kind.lasts(self.schedule),
            "deadline": None if deadline is None else _alert(deadline, self.options),
            "on_failure_callback": self.options.on_failure,
        }

    def _task(self, kind: Kind, step: str) -> BaseOperator:
        schedule, goes_on = self.schedule, kind.goes_on(self.schedule)
        is_beside = goes_on or not kind.writes
        common: dict[str, Any] = {
            "task_id": step,
            "owner": schedule.owner,
            "retries": schedule.retries,
            "retry_delay": timedelta(seconds=30),
            "retry_exponential_backoff": 2,
            "max_retry_delay": LONGEST_DELAY,
            "execution_timeout": None if goes_on else timedelta(microseconds=schedule.execution_timeout),
            "pool": self.options.pool or "default_pool" if is_beside else self.pool,
            **({} if goes_on else hooks_of(kind, step, self.pipeline, self.options)),
        }
        if step == CLEAN:
            stages = [stage.name for stage in self.pipeline.stages]
            run = kind.run_of(self.pipeline.pipeline, _RUN)
            return Clean(lake=self.pipeline.lake, run=run, stages=stages, **common)
        if step == TELL:
            return TellStep(**common)
        run = (kind.run_of if step in STEPS else run_argument)(self.pipeline.pipeline, _RUN)
        return (ReportStep if step == REPORT else Step)(
            application=str(JOBS / ("step.py" if step in STEPS else "job.py")),
            application_args=[
                step, str(self.file), "--project", str(self.project), "--run", run,
                *(_SPAN if kind.has_span else ()), *(self._page(kind, step) if kind.has_page else ()),
                *kind.arguments(schedule),
            ],
            pipeline=self.pipeline,
            run_of=partial(kind.run_of, self.pipeline.pipeline),
            schedule=schedule,
            watch=watch_of(self.pipeline, self.options),
            name=f"{self.pipeline.pipeline} {step}",
            **common,
        )  # fmt: skip

    def _page(self, kind: Kind, step: str) -> list[str]:
        """The arguments that say where the page of a run is, as `windrow report` names it, and what it links to."""
        name = self.pipeline.pipeline
        run = kind.run_of(name, "{{ run_id | replace(':', '') | replace('+', '_') }}").removeprefix(f"{name}__")
        page = str(self.project / "out" / f"{name}-{run}.html")
        link = ["--link", "{{ ti.log_url if ti.log_url.startswith('http') else '' }}"]
        return ["--output", page, *(link if step in STEPS else ())]


def _kinds(schedule: Schedule, watched: Watched) -> list[tuple[Kind, When]]:
    """The kinds of DAGs that a schedule names, and when each runs."""
    found = [(kind, kind.when(schedule, watched)) for kind in KINDS]
    return [(kind, when) for kind, when in found if when is not None]


def _dag(dag_id: str, tags: Sequence[str], description: str, page: str, **options: Any) -> DAG:
    common: dict[str, Any] = {"catchup": False, "max_active_runs": 1, "tags": ["windrow", *tags]}
    return DAG(dag_id, description=description, doc_md=page, **common, **options)


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
