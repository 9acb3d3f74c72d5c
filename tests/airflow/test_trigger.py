"""The trigger of a DAG that waits, over a lake that steps of a run and a stream have written."""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Callable
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import windrow
from tests.airflow.clicks import FILE as CLICKS
from tests.airflow.clicks import SCHEDULE
from windrow.drivers.inspect.waiting.arrivals import Arrivals
from windrow.drivers.pipeline.pipeline import PipelineWork
from windrow.drivers.recompute.backfill import Backfill
from windrow.spec.errors import WindowsWait
from windrow.spec.times import parse_time

pytestmark = [pytest.mark.airflow, pytest.mark.spark]

FILE = f"{CLICKS}{SCHEDULE % 'poke_interval: 1s'}\n"


@pytest.fixture(scope="module", autouse=True)
def home(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Airflow is imported before a test captures what is printed: its log goes where it was printed then."""
    os.environ.setdefault("AIRFLOW_HOME", str(tmp_path_factory.mktemp("airflow")))
    import windrow.airflow.tasks.trigger  # noqa: F401


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What the trigger says in the log of the task."""
    from windrow.airflow.tasks.trigger import WindowsExpired

    messages: list[str] = []
    logger = SimpleNamespace(info=lambda text, *values: messages.append(text % values))
    monkeypatch.setattr(WindowsExpired, "log", logger)
    return messages


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "clicks.yaml").write_text(FILE)
    (tmp_path / "data").mkdir()
    return tmp_path


def click(project: Path, at: str) -> None:
    (project / "data" / f"{at[11:16].replace(':', '')}.json").write_text(f'{{"at": "{at}"}}\n')


def run_of(project: Path, spark: Any) -> Backfill:
    """A run over the first hours of a day, which waits."""
    work = PipelineWork.open(windrow.load("clicks.yaml", project=project), spark)
    return Backfill(work, "day", *map(parse_time, ("2024-01-01T00:00:00Z", "2024-01-01T02:00:00Z")), waits=True)


def trigger_of(project: Path, until: dict[str, int], **options: Any) -> Any:
    """The trigger of a task that has looked at its sources just now, as Airflow makes it from what it has kept."""
    from windrow.airflow.tasks.trigger import WindowsExpired

    sources = [Arrivals.of(source).looked_at() for source in windrow.load("clicks.yaml", project=project).sources]
    deadline = (datetime.now(UTC) + timedelta(hours=1)).isoformat()
    given = {"deadline": deadline, "on_timeout": "early", "poke_interval": 0.2, **options}
    made = WindowsExpired(
        lake=str(project / "lake"), until=until, sources=[asdict(source) for source in sources], **given
    )
    return WindowsExpired(**made.serialize()[1])


async def fired(trigger: Any, seconds: float = 20, meanwhile: Callable[[], Any] | None = None) -> list[str]:
    """Its events; none where it still waits after so long. Something may happen after its first look."""
    found: list[str] = []

    async def run() -> None:
        found.extend([event.payload async for event in trigger.run()])

    task = asyncio.create_task(run())
    if meanwhile is not None:
        await asyncio.sleep(1)
        await asyncio.to_thread(meanwhile)
    try:
        await asyncio.wait_for(task, seconds)
    except TimeoutError:
        assert not found
    return found


def test_a_run_waits_without_a_stream_and_beside_one(spark, project: Path, told: list[str]) -> None:  # type: ignore[no-untyped-def]
    click(project, "2024-01-01T00:30:00Z")
    run = run_of(project, spark)
    with pytest.raises(WindowsWait) as waits:
        run.land()
    until = waits.value.until
    assert until == {"hourly": parse_time("2024-01-01T02:00:00Z")}

    trigger = trigger_of(project, until)
    assert asyncio.run(fired(trigger, 1.5)) == [], "nothing has come"
    assert len(told) > 2 and told[-1].endswith("; nothing new has come to land")
    told.clear()
    click(project, "2024-01-01T00:45:00Z")
    (event,) = asyncio.run(fired(trigger))
    stands = "hourly: the watermark stands at 2023-12-31 23:30, waits for 2024-01-01 02:00, 2h 30m to go"
    assert event.startswith(f"{stands}, shows nothing yet; clicks landed step 1 last at 20")
    assert event.endswith("; no stream lands and something may have come, so the task lands next")
    assert told and told[0].startswith("Waits until 20") and stands in told[0]

    stream = windrow.load("clicks.yaml", project=project)
    landing = PipelineWork.open(stream, spark).landings[0]
    (event,) = asyncio.run(fired(trigger_of(project, until, poke_interval=2), meanwhile=landing.run))
    assert "clicks landed step 2" in event, "what somebody else has landed is new to batches"
    windrow.run(stream, spark, once=True)
    told.clear()
    assert asyncio.run(fired(trigger, 1.5)) == [], "a stream lands"
    assert len(told) > 1 and told[-1].endswith("; a stream lands for hourly")

    click(project, "2024-01-01T02:30:00Z")
    windrow.run(stream, spark, once=True)
    told.clear()
    later = trigger_of(project, {"hourly": parse_time("2024-01-01T03:00:00Z")})
    assert asyncio.run(fired(later, 1.5)) == []
    stands = "waits for 2024-01-01 03:00, 1h 30m to go, shows windows up to 2024-01-01 01:00"
    assert re.search(f"{stands}, [0-9]+d .*ago; ", told[-1])

    click(project, "2024-01-01T03:00:00Z")
    windrow.run(stream, spark, once=True)
    assert asyncio.run(fired(trigger)) == ["hourly: the windows of the interval have expired"]
    run_of(project, spark).land()


def test_a_run_that_has_waited_long_enough_goes_on(project: Path) -> None:
    soon = (datetime.now(UTC) + timedelta(seconds=0.2)).isoformat()
    trigger = trigger_of(project, {"hourly": 7}, deadline=soon, poke_interval=60)
    assert asyncio.run(fired(trigger)) == [
        f"it has waited long enough: until {soon[:16].replace('T', ' ')}, then it shows the windows early"
    ]


def test_a_lake_that_cannot_be_read_is_left_to_the_task(project: Path) -> None:
    trigger = trigger_of(project, {"hourly": 7})
    trigger.lake = "hdfs://nowhere/lake"
    assert asyncio.run(fired(trigger)) == ["it cannot be seen from here"]
