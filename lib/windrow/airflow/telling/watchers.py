"""What starts DAGs when something is new in a lake: a look now and then, in Airflow's triggerer, without a JVM."""

from __future__ import annotations

import asyncio
from abc import abstractmethod
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

from airflow.sdk import Asset, AssetWatcher
from airflow.triggers.base import BaseEventTrigger, TriggerEvent

from windrow.drivers.inspect.telling.late import late_rows_in
from windrow.drivers.inspect.telling.ticked import ticked_in
from windrow.spec.pipelines.pipeline import Pipeline
from windrow.spec.pipelines.schedules import Schedule
from windrow.spec.times import SECOND
from windrow.store.delta.location import Lake
from windrow.store.reading.arrow import ArrowTables


@dataclass(frozen=True)
class Watched:
    """The assets of a pipeline that start its own DAGs: each has an event when something is new."""

    late_rows: Asset
    panes: Asset


def watched_of(name: str, pipeline: Pipeline | None, schedule: Schedule) -> Watched:
    """The assets `<pipeline>/late rows` and `<pipeline>/new panes`. Without a pipeline no event comes."""
    return Watched(*(_watched(f"{name}/{what}", what, trigger, pipeline, schedule) for what, trigger in _WATCHED))


def _watched(name: str, what: str, trigger: type[New], pipeline: Pipeline | None, schedule: Schedule) -> Asset:
    if pipeline is None:
        return Asset(name)
    stages = [stage.name for stage in pipeline.stages]
    made = trigger(lake=pipeline.lake, stages=stages, poke_interval=schedule.poke_interval / SECOND)
    return Asset(name, watchers=[AssetWatcher(what, made)])


class Found(Protocol):
    """Something of a generation of a stage, in ticks up to this one."""

    @property
    def stage(self) -> str: ...
    @property
    def generation(self) -> int: ...
    @property
    def tick(self) -> int: ...


class New(BaseEventTrigger):
    """Fires when a look finds something in ticks behind those in which it has found something before.

    It looks every `poke_interval` seconds. Another triggerer that goes on with it fires once more, and the DAG finds
    out so that there is nothing to do. A lake that cannot be read from here is looked at again. `WHAT` names what is
    new in the payload of its events.
    """

    WHAT: ClassVar[str]

    def __init__(self, *, lake: str, stages: Sequence[str], poke_interval: float) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.lake = lake
        self.stages = list(stages)
        self.poke_interval = poke_interval

    def serialize(self) -> tuple[str, dict[str, Any]]:
        """How Airflow keeps it, to go on in another process."""
        names = ("lake", "stages", "poke_interval")
        return f"{__name__}.{type(self).__name__}", {name: getattr(self, name) for name in names}

    async def run(self) -> AsyncIterator[TriggerEvent]:
        """An event for each look that finds something new; its payload says of each stage what stands there."""
        told: dict[tuple[str, int], int] = {}
        while True:
            found = await asyncio.to_thread(self._look, told)
            if any(one.tick > told.get((one.stage, one.generation), 0) for one, _ in found):
                told |= {(one.stage, one.generation): one.tick for one, _ in found}
                yield _event(self.WHAT, {one.stage: {**numbers, "tick": one.tick} for one, numbers in found})
            await asyncio.sleep(self.poke_interval)

    def _look(self, told: Mapping[tuple[str, int], int]) -> list[tuple[Found, Mapping[str, int]]]:
        """What stands there, with its numbers; nothing where the lake cannot be read."""
        try:
            return list(self.found(Lake.of(self.lake), told))
        except Exception as error:  # whatever it is, a later look may not meet it
            self.log.warning("What is new in the lake is not known here: %s", error)
            return []

    @abstractmethod
    def found(self, lake: Lake, told: Mapping[tuple[str, int], int]) -> Sequence[tuple[Found, Mapping[str, int]]]:
        """What stands in a lake, each with its numbers. `told` are the ticks up to which it was found before."""


class NewLateRows(New):
    """Fires when stages have late rows that no restatement has counted, and again when newer ones come."""

    WHAT = "late"

    def found(self, lake: Lake, told: Mapping[tuple[str, int], int]) -> Sequence[tuple[Found, Mapping[str, int]]]:
        return [(one, {"rows": one.rows}) for one in late_rows_in(ArrowTables(), lake, self.stages)]


class NewPanes(New):
    """Fires when the tables `current` of stages show panes of ticks that they did not show before."""

    WHAT = "shown"

    def found(self, lake: Lake, told: Mapping[tuple[str, int], int]) -> Sequence[tuple[Found, Mapping[str, int]]]:
        ticked = ticked_in(ArrowTables(), lake, self.stages, told)
        return [(one, {"panes": one.panes, "retractions": one.retractions}) for one in ticked]


_WATCHED: Sequence[tuple[str, type[New]]] = (("late rows", NewLateRows), ("new panes", NewPanes))


def _event(what: str, found: Mapping[str, Any]) -> TriggerEvent:
    return TriggerEvent({what: found})  # type: ignore[no-untyped-call]
