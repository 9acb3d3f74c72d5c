"""What is told of a lake by events: once, and only what has changed. No database here."""

from __future__ import annotations

import asyncio
import json
import os
from datetime import datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from deltalake import CommitProperties, DeltaTable, write_deltalake

from windrow.drivers.inspect.telling.late import late_rows_in
from windrow.spec.pipelines.loading import load
from windrow.spec.times import HOUR
from windrow.store.delta.location import Lake
from windrow.store.reading.arrow import ArrowTables

ROOT = Path(__file__).resolve().parents[2]

pytestmark = pytest.mark.airflow


@pytest.fixture(scope="module", autouse=True)
def home(tmp_path_factory: pytest.TempPathFactory) -> None:
    os.environ.setdefault("AIRFLOW_HOME", str(tmp_path_factory.mktemp("airflow")))


class Events(list[dict[str, Any]]):
    """The events of an alias: as an inlet, and as an outlet that gains some."""

    def ascending(self, is_so: bool) -> Events:
        assert not is_so
        return self

    def limit(self, number: int) -> list[Any]:
        return [type("Event", (), {"extra": extra}) for extra in reversed(self[-number:])]

    def after(self, moment: datetime) -> list[Any]:
        assert moment.tzinfo is not None
        return [type("Event", (), {"extra": extra}) for extra in self]

    def add(self, asset: Any, extra: dict[str, Any]) -> None:
        self.append({**extra, "asset": asset.name})


def tell(folder: Path, lake: str, told: type, events: Events) -> list[dict[str, Any]]:
    """The events that a task gives now."""
    from windrow.airflow.telling.events import Announcement

    text = (ROOT / "conf" / "pipelines" / "traffic.yaml").read_text()
    (folder / "traffic.yaml").write_text(text.replace("lake: lake/traffic", f"lake: {lake}"))
    pipeline = load(folder / "traffic.yaml")
    announce, before = Announcement(told(pipeline), lambda run: run), len(events)
    announce({"run_id": "monday", "inlet_events": {announce.alias: events}, "outlet_events": {announce.alias: events}})
    return [{name: value for name, value in extra.items() if name != "run"} for extra in events[before:]]


def write(lake: Path, name: str, notes: dict[str, Any] | None = None, **columns: list[Any]) -> None:
    """Append rows to a table, by a commit with notes if it is of a generation."""
    told = None if notes is None else CommitProperties(custom_metadata={"userMetadata": json.dumps(notes)})
    write_deltalake(str(lake / name), pa.table(columns), mode="append", commit_properties=told)


def begin(lake: Path, generation: int) -> None:
    """Begin a generation of the stage."""
    row = {"stage": stage_of(), "generation": generation, "fingerprint": "{}", "step": generation}
    write(lake, "_windrow/generations", **{name: [value] for name, value in row.items()})


def show(lake: Path, generation: int, tick: int) -> None:
    """The table `current` shows the ticks of a generation up to one."""
    notes = {"step": tick, "writer": "w", "generation": generation, "journal_step": tick}
    write(lake, f"{stage_of()}/current", notes, num=[tick])


def shown(lake: Path, generation: int, *panes: int, first: int = 1) -> None:
    """Ticks with so many panes, and a retraction each, that stand in the table `ticks`."""
    numbers = {"tick": [first + index for index in range(len(panes))], "panes": list(panes)}
    retractions = [1] * len(panes)
    write(lake, f"{stage_of()}/ticks", generation=[generation] * len(panes), retractions=retractions, **numbers)


def stage_of() -> str:
    return load(ROOT / "conf" / "pipelines" / "traffic.yaml").stages[0].name


def test_a_stream_tells_of_the_ticks_behind_those_that_were_told(tmp_path: Path) -> None:
    from windrow.airflow.telling.events import StreamChanges

    stage, events = stage_of(), Events()

    def told() -> list[dict[str, Any]]:
        return tell(tmp_path, str(tmp_path), StreamChanges, events)

    def event(generation: int, tick: int, panes: int, retractions: int) -> dict[str, Any]:
        return {
            "asset": f"traffic/{stage}", "stage": stage, "generation": generation, "tick": tick, "panes": panes,
            "retractions": retractions,
        }  # fmt: skip

    assert told() == []
    begin(tmp_path, 1)
    shown(tmp_path, 1, 3, 4)
    assert told() == [], "people do not see them yet"
    show(tmp_path, 1, 2)
    assert told() == [event(1, 2, 7, 2)] and told() == []
    shown(tmp_path, 1, 5, 6, first=3)
    show(tmp_path, 1, 3)
    assert told() == [event(1, 3, 5, 1)]
    show(tmp_path, 1, 4)
    assert told() == [event(1, 4, 6, 1)]
    begin(tmp_path, 2)
    shown(tmp_path, 2, 9)
    assert told() == [], "the tables show the generation before"
    show(tmp_path, 2, 1)
    assert told() == [event(2, 1, 9, 1)] and told() == []
    events += [{"stage": "other", "generation": 1, "tick": tick} for tick in range(2000)]
    assert told() == [], "another stage may have changed often since then"


def audit(lake: Path, step: str, **found: Any) -> None:
    """Keep what a step of the run on monday has found, behind those before."""
    kept = lake / "_windrow" / "audits"
    at = DeltaTable(str(kept)).to_pyarrow_table().num_rows if kept.exists() else 0
    about = {"start": 0, "end": HOUR, "stages": [stage_of()]}
    row = {"run": "monday", "step": step, "subject": stage_of() if found else "", "result": json.dumps(found | about)}
    write(lake, "_windrow/audits", at=[at], **{name: [value] for name, value in row.items()})


def test_a_run_tells_of_what_it_has_published_also_when_it_has_begun_anew(tmp_path: Path) -> None:
    """Whoever has killed its task behind the publish has it begin again, and then it finds nothing to change."""
    from windrow.airflow.telling.events import RunChanges

    events = Events()

    def publish(tick: int | None, generation: int) -> None:
        audit(tmp_path, "begin")
        numbers = {"windows": 4, "inserted": 4 if tick else 0, "changed": 0, "retracted": 0}
        audit(tmp_path, "publish", stage=stage_of(), tick=tick, generation=generation, **numbers)

    def told() -> list[tuple[int, int, int]]:
        found = tell(tmp_path, str(tmp_path), RunChanges, events)
        return [(event["generation"], event["tick"], event["inserted"]) for event in found]

    begin(tmp_path, 1)
    publish(5, 1)
    publish(None, 1)
    assert told() == [(1, 5, 4)] and told() == []
    begin(tmp_path, 2)
    assert told() == [], "what it has changed is not shown any more"
    publish(5, 2)
    assert told() == [(2, 5, 4)] and told() == []


def test_a_commit_of_a_run_is_told_of_once_beside_a_stream(tmp_path: Path) -> None:
    """By the run itself, or by what tells of the stream, whoever comes first."""
    from windrow.airflow.telling.events import RunChanges, StreamChanges

    stage, events = stage_of(), Events()
    begin(tmp_path, 1)

    def publish(tick: int) -> None:
        numbers = {"windows": 1, "inserted": 1, "changed": 0, "retracted": 0, "start": 0, "end": 9, "stages": [stage]}
        result = json.dumps({"stage": stage, "tick": tick, **numbers})
        row = {"run": "monday", "step": "publish", "subject": stage, "result": result, "at": tick}
        write(tmp_path, "_windrow/audits", **{name: [value] for name, value in row.items()})
        shown(tmp_path, 1, 4, first=tick)
        show(tmp_path, 1, tick)

    def told(told_by: type) -> list[int]:
        return [extra["tick"] for extra in tell(tmp_path, str(tmp_path), told_by, events)]

    publish(1)
    assert (told(RunChanges), told(StreamChanges), told(RunChanges)) == ([1], [], [])
    publish(2)
    assert (told(StreamChanges), told(RunChanges), told(StreamChanges)) == ([2], [], [])
    publish(3)
    assert told(RunChanges) == [3]


def test_late_rows_are_told_of_when_there_are_newer_ones(tmp_path: Path) -> None:
    from windrow.airflow.telling.watchers import NewLateRows

    stage = stage_of()
    made = NewLateRows(lake=str(tmp_path), stages=[stage], poke_interval=0.05)
    trigger = NewLateRows(**made.serialize()[1])

    def letter(reason: str, tick: int, restated_by: int | None = None) -> None:
        column = pa.array([restated_by], pa.int64())
        notes = {"step": tick, "writer": "w", "generation": 1, "journal_step": tick}
        write(tmp_path, f"{stage}/dead_letters", notes, reason=[reason], tick=[tick], restated_by=column)

    async def told() -> list[Any]:
        """The events of a second, while letters come."""
        found: list[Any] = []

        async def listen() -> None:
            async for event in trigger.run():
                found.append(event.payload["late"][stage])

        listening = asyncio.create_task(listen())
        for reason, tick, restated_by in [("bad_gap", 1, None), ("late", 2, 3), ("closed", 4, None), ("late", 5, None)]:
            await asyncio.sleep(0.5)
            letter(reason, tick, restated_by)
        await asyncio.sleep(0.5)
        listening.cancel()
        return found

    begin(tmp_path, 1)
    assert asyncio.run(told()) == [{"rows": 1, "tick": 4}, {"rows": 2, "tick": 5}]
    begin(tmp_path, 2)  # whose tables are not written yet: what they show is of the one before
    assert late_rows_in(ArrowTables(), Lake(str(tmp_path)), [stage]) == []


def test_new_panes_are_told_of_when_people_see_them(tmp_path: Path) -> None:
    from windrow.airflow.telling.watchers import NewPanes

    stage = stage_of()
    made = NewPanes(lake=str(tmp_path), stages=[stage], poke_interval=0.05)
    trigger = NewPanes(**made.serialize()[1])

    async def told() -> list[Any]:
        """The events while a stream goes on."""
        found: list[Any] = []

        async def listen() -> None:
            async for event in trigger.run():
                found.append(event.payload["shown"][stage])

        listening = asyncio.create_task(listen())
        for change in (
            lambda: shown(tmp_path, 1, 3, 4),
            lambda: show(tmp_path, 1, 2),
            lambda: shown(tmp_path, 1, 0, first=3),
            lambda: shown(tmp_path, 1, 5, first=4),
            lambda: show(tmp_path, 1, 4),
        ):
            change()
            await asyncio.sleep(0.5)
        listening.cancel()
        return found

    begin(tmp_path, 1)
    assert asyncio.run(told()) == [
        {"panes": 7, "retractions": 2, "tick": 2}, {"panes": 5, "retractions": 2, "tick": 4},
    ]  # fmt: skip


@pytest.mark.parametrize("told", ["RunChanges", "StreamChanges"])
def test_of_a_lake_that_cannot_be_read_consumers_hear_without_numbers(tmp_path: Path, told: str) -> None:
    from windrow.airflow.telling import events

    found = tell(tmp_path, "hdfs://nowhere/lake", getattr(events, told), Events())
    assert found == [{"asset": f"traffic/{stage_of()}"}]
