"""What a run says of results that grow stale: in the task's log, in the triggerer and behind a publish, each once."""

from __future__ import annotations

import asyncio
import logging
import os
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pytest
from deltalake import write_deltalake

from tests.airflow.clicks import FILE as CLICKS
from tests.airflow.clicks import SCHEDULE

pytestmark = pytest.mark.airflow

FILE = f"""{CLICKS}    freshness: {{warn: 2h, error: 6h}}
{SCHEDULE % "deadline: 3h"}
"""


@pytest.fixture(scope="module", autouse=True)
def home(tmp_path_factory: pytest.TempPathFactory) -> None:
    os.environ.setdefault("AIRFLOW_HOME", str(tmp_path_factory.mktemp("airflow")))
    os.environ["AIRFLOW__CORE__LOAD_EXAMPLES"] = "False"
    import windrow.airflow.tasks.trigger  # noqa: F401


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "clicks.yaml").write_text(FILE)
    (tmp_path / "data").mkdir()
    return tmp_path


def complete(project: Path, **ago: float) -> None:
    """The newest complete window of the stage ended so long ago."""
    end = datetime.now(UTC) - timedelta(**ago)
    schema = pa.schema([("timing", pa.string()), ("window_end", pa.timestamp("us", tz="UTC"))])
    rows = pa.Table.from_pylist([{"timing": "on_time", "window_end": end}], schema)
    write_deltalake(str(project / "lake" / "hourly" / "current"), rows, mode="overwrite")


class Store(dict[str, Any]):
    """What Airflow keeps for a task."""

    def set(self, key: str, value: Any) -> None:
        self[key] = value


def context(store: Store, run_type: str = "scheduled") -> dict[str, Any]:
    run = SimpleNamespace(start_date=datetime.now(UTC), run_type=run_type)
    return {"task_state_store": store, "dag_run": run, "run_id": "monday"}


def task(project: Path, step: str, tell: Any) -> Any:
    from windrow.airflow import DagOptions, dags_of

    return dags_of(project, project, DagOptions(on_warning=tell))["clicks_backfill"].get_task(step)


def stale_event() -> dict[str, Any]:
    from windrow.airflow.tasks.trigger import LANDED, STALE

    return {STALE: ["hourly: warn"], LANDED: {"clicks": 3}}


def test_a_waiting_task_tells_of_each_level_once_and_waits_on(project: Path, caplog: pytest.LogCaptureFixture) -> None:
    from airflow.sdk.exceptions import TaskDeferred

    heard: list[list[str]] = []
    land, store = task(project, "land", lambda context: heard.append(context["warnings"])), Store()
    sources = [{"source": "clicks", "connector": "files", "path": "data", "seen": "as it was"}]

    def resumed() -> Any:
        with pytest.raises(TaskDeferred) as deferred:
            land.resume(context(store), stale_event(), until={"hourly": 7}, sources=sources)
        assert deferred.value.kwargs == {"until": {"hourly": 7}, "sources": sources}
        return deferred.value.trigger

    complete(project, hours=1)
    assert (resumed().told, heard) == ({}, [])
    complete(project, hours=3)
    trigger = resumed()
    assert (trigger.told, trigger.landed, trigger.until) == ({"hourly": "warn"}, {"clicks": 3}, {"hourly": 7})
    assert trigger.allowed == {"hourly": {"warn": "2h", "error": "6h"}} and trigger.sources == sources
    assert resumed().told == {"hourly": "warn"} and len(heard) == 1
    complete(project, hours=7)
    assert resumed().told == {"hourly": "error"}
    assert [[line.split(" up to ")[0] for line in lines] for lines in heard] == [
        ["hourly: warn: complete"], ["hourly: error: complete"],
    ]  # fmt: skip
    told = [(record.levelno, record.getMessage().split(" up to ")[0]) for record in caplog.records]
    assert (logging.WARNING, "Freshness of hourly: warn: complete") in told
    assert (logging.ERROR, "Freshness of hourly: error: complete") in told
    complete(project, hours=1)
    assert resumed().told == {} and len(heard) == 2, "it is fresh again"
    complete(project, hours=3)
    assert resumed().told == {"hourly": "warn"} and len(heard) == 3


def test_whoever_is_told_and_fails_stops_nothing(project: Path) -> None:
    from airflow.sdk.exceptions import TaskDeferred

    def fails(context: Any) -> None:
        raise ConnectionError("nobody there")

    with pytest.raises(TaskDeferred) as deferred:
        task(project, "land", fails).resume(context(Store()), stale_event(), until={"hourly": 7}, sources=[])
    assert deferred.value.trigger.told == {"hourly": "error"}, "it shows no complete window yet"


def test_a_lake_that_cannot_be_read_is_waited_for_too(project: Path) -> None:
    from airflow.sdk.exceptions import TaskDeferred

    (project / "clicks.yaml").write_text(FILE.replace("lake: lake", "lake: hdfs://nowhere/lake"))
    with pytest.raises(TaskDeferred) as deferred:
        task(project, "land", print).resume(context(Store()), stale_event(), until={"hourly": 7}, sources=[])
    assert deferred.value.trigger.told == {}


def trigger_of(project: Path, monkeypatch: pytest.MonkeyPatch, **options: Any) -> tuple[Any, list[str]]:
    """A trigger as Airflow makes it from what it has kept, and what it says in the log of the task."""
    from windrow.airflow.tasks.trigger import WindowsExpired

    messages: list[str] = []
    logger = SimpleNamespace(info=lambda text, *values: messages.append(text % values))
    monkeypatch.setattr(WindowsExpired, "log", logger)
    now = datetime.now(UTC)
    given = {
        "lake": str(project / "lake"), "until": {"hourly": 7}, "on_timeout": "fail", "poke_interval": 0.2,
        "sources": [{"source": "clicks", "connector": "files", "path": str(project / "data"), "seen": "other"}],
        "deadline": (now + timedelta(hours=1)).isoformat(), "due": (now - timedelta(hours=1)).isoformat(),
        "allowed": {"hourly": {"warn": "2h", "error": "6h"}},
    }  # fmt: skip
    return WindowsExpired(**WindowsExpired(**{**given, **options}).serialize()[1]), messages


async def fired(trigger: Any, seconds: float) -> list[Any]:
    """Its events; none where it still waits after so long."""
    found: list[Any] = []

    async def run() -> None:
        found.extend([event.payload async for event in trigger.run()])

    try:
        await asyncio.wait_for(run(), seconds)
    except TimeoutError:
        assert not found
    return found


def seen(project: Path) -> list[dict[str, Any]]:
    from windrow.drivers.inspect.waiting.arrivals import Arrivals

    one = Arrivals("clicks", "files", str(project / "data")).looked_at()
    return [{"source": one.source, "connector": one.connector, "path": one.path, "seen": one.seen}]


def test_the_triggerer_says_how_old_results_are_and_wakes_the_task_when_it_has_to_tell(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from windrow.airflow.tasks.trigger import LANDED, STALE

    complete(project, hours=3)
    trigger, said = trigger_of(project, monkeypatch, told={"hourly": "warn"}, sources=seen(project))
    assert asyncio.run(fired(trigger, 1.5)) == [], "it has told"
    assert len(said) > 1 and said[-1].endswith(" ago (a warning after 2h, an error after 6h)")
    assert "then it fails (its deadline was 20" in said[-1]
    assert "; freshness of hourly: warn: complete up to " in said[-1]

    trigger, _ = trigger_of(project, monkeypatch, sources=seen(project))
    (event,) = asyncio.run(fired(trigger, 20))
    assert event[STALE][0].startswith("hourly: warn: complete up to ") and event[LANDED] == {"clicks": 0}


def test_a_task_that_has_told_waits_on_from_the_same_landing_step(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What somebody else has landed in between is new."""
    complete(project, hours=1)
    trigger, _ = trigger_of(project, monkeypatch, sources=seen(project), landed={"clicks": 2})
    (event,) = asyncio.run(fired(trigger, 20))
    assert event.endswith("no stream lands and something may have come, so the task lands next")


@pytest.mark.parametrize(("run_type", "times"), [("scheduled", 1), ("manual", 0), ("backfill", 0)])
def test_behind_a_publish_stale_results_are_told_of_by_runs_of_the_schedule(
    project: Path, run_type: str, times: int
) -> None:
    from windrow.airflow.telling.freshness import FreshnessWatch

    heard: list[list[str]] = []
    publish = task(project, "publish", lambda context: heard.append(context["warnings"]))
    (watch,) = [hook for hook in publish._post_execute_hook.hooks if isinstance(hook, FreshnessWatch)]
    complete(project, hours=7)
    watch(context(Store(), run_type))
    assert len(heard) == times
