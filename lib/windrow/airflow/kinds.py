"""The kinds of DAGs that a pipeline may have, in one table: their tasks, when they run, and what they say."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from airflow.sdk import CronDataIntervalTimetable, CronTriggerTimetable

from windrow.airflow.tasks.steps import REPORT, STEPS
from windrow.airflow.telling.events import Changes, RunChanges, StreamChanges
from windrow.airflow.telling.watchers import Watched
from windrow.spec.pipelines.schedules import LATE, LONG, Schedule

CLEAN = "clean"
"""The step that deletes what a run has staged."""
TELL = "tell"
"""The step that tells what a stream has changed."""
TEARDOWNS = (CLEAN, REPORT)
"""The steps that are made whatever came before."""
When = Mapping[str, Any]
"""The options of a DAG that say when it runs."""


@dataclass(frozen=True)
class Kind:
    """A kind of DAG: `<pipeline>_<name>`, with a task for each step, one behind the other.

    `when` is given the schedule of a pipeline, and the assets that start its DAGs; a pipeline for which it gives None
    has no such DAG. `has_span` says that a run is over a span of windows and waits for them. Behind the step
    `publishes` consumers are told of the tables that have changed, which `changes` finds out. `arguments` are those of
    its job. `goes_on` says that a step does not end by itself: nothing ends it, it tells nobody, and it leaves the slot
    of its lake to the others, as does a kind that does not write there. One that `has_page` has a report of each run.
    """

    name: str
    steps: tuple[str, ...]
    about: str
    when: Callable[[Schedule, Watched], When | None]
    has_span: bool = False
    publishes: str | None = None
    changes: type[Changes] = RunChanges
    arguments: Callable[[Schedule], tuple[str, ...]] = lambda schedule: ()
    goes_on: Callable[[Schedule], bool] = lambda schedule: False
    writes: bool = True
    has_page: bool = False

    def dag_id(self, pipeline: str) -> str:
        return f"{pipeline}_{self.name}"

    def run_of(self, pipeline: str, run: str) -> str:
        """The name in the audits and the staging area of a run of this kind.

        Airflow's ids are alike in all DAGs, also in those of other pipelines of the lake.
        """
        named = run_argument(pipeline, run)
        return named if self.has_span else f"{self.name}__{named}"

    def lasts(self, schedule: Schedule) -> timedelta | None:
        """How long a run may last: every try of every step, and the wait; None where it goes on."""
        if self.goes_on(schedule):
            return None
        tries = len(self.steps) * (schedule.retries + 1) * schedule.execution_timeout
        return timedelta(microseconds=tries + (schedule.wait if self.has_span else 0))


def _backfill(schedule: Schedule, _: Watched) -> When:
    """By data intervals, which Airflow's own timetable for cron expressions has not."""
    if schedule.cron is None or schedule.start is None:
        return {"schedule": None}
    end = None if schedule.end is None else _moment(schedule.end)
    interval = CronDataIntervalTimetable(schedule.cron, timezone=schedule.zone)
    return {"schedule": interval, "start_date": _moment(schedule.start), "end_date": end}


def _restate(schedule: Schedule, watched: Watched) -> When | None:
    if schedule.restate == LATE:
        return {"schedule": [watched.late_rows]}
    return _at(schedule.restate, schedule)


def _stream(schedule: Schedule, _: Watched) -> When | None:
    if schedule.stream == LONG:
        return {"schedule": "@continuous", "start_date": datetime(2024, 1, 1, tzinfo=UTC)}
    return _at(schedule.stream, schedule)


def _events(schedule: Schedule, watched: Watched) -> When | None:
    """A task gives its events when it ends, and a stream that goes on does not end."""
    return {"schedule": [watched.panes]} if schedule.stream == LONG else None


def _at(cron: str | None, schedule: Schedule) -> When | None:
    return None if cron is None else {"schedule": CronTriggerTimetable(cron, timezone=schedule.zone)}


KINDS = (
    Kind(
        "backfill",
        (*STEPS[:-1], CLEAN, REPORT),
        "Each run is over the windows that start in its data interval, or, by hand, in the params `from` and `to`.\n"
        "It publishes when all of them have expired, and waits until then.",
        _backfill,
        has_span=True,
        has_page=True,
        publishes="publish",
    ),
    Kind(
        "restate",
        ("restate", CLEAN, REPORT),
        "Each run counts the late rows that no restatement has counted, and corrects their windows.",
        _restate,
        has_page=True,
        publishes="restate",
    ),
    Kind(
        "maintain",
        ("maintain",),
        "Each run compacts journals and files, and removes what nobody reads any more.",
        lambda schedule, _: _at(schedule.maintain, schedule),
    ),
    Kind(
        "stream",
        ("stream",),
        "The stream of the pipeline: it lands, ticks and shows panes.",
        _stream,
        publishes="stream",
        changes=StreamChanges,
        arguments=lambda schedule: () if schedule.stream == LONG else ("--once",),
        goes_on=lambda schedule: schedule.stream == LONG,
    ),
    Kind(
        "events",
        (TELL,),
        "Each run tells consumers what the tables show that they did not show before: a stream that goes on tells of\n"
        "nothing itself.",
        _events,
        publishes=TELL,
        changes=StreamChanges,
        writes=False,
    ),
)

_SUFFIX = re.compile(rf"_({'|'.join(kind.name for kind in KINDS)})$")


def run_argument(pipeline: str, run: str) -> str:
    """What the jobs of a pipeline are told is the name of a run; `windrow job` puts its own name in front."""
    return f"{pipeline}__{run}"


def pipeline_of(dag_id: str) -> str:
    """The pipeline of a DAG."""
    return _SUFFIX.sub("", dag_id)


def _moment(micros: int) -> datetime:
    return datetime.fromtimestamp(micros / 1_000_000, UTC)
