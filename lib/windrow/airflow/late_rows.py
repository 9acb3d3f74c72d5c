"""What starts a restatement: a look at the lake now and then, in Airflow's triggerer, without a JVM."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any

from airflow.sdk import Asset, AssetWatcher
from airflow.triggers.base import BaseEventTrigger, TriggerEvent

from windrow.drivers.inspect.late import LateRows, late_rows_in
from windrow.spec.pipelines.pipeline import Pipeline
from windrow.spec.pipelines.schedules import Schedule
from windrow.spec.times import SECOND
from windrow.store.delta.location import Lake
from windrow.store.reading.arrow import ArrowTables


def late_rows_of(name: str, pipeline: Pipeline | None, schedule: Schedule) -> Asset:
    """The asset `<pipeline>/late rows`, which has an event when a lake has new ones. Without a pipeline none comes."""
    if pipeline is None:
        return Asset(f"{name}/late rows")
    stages = [stage.name for stage in pipeline.stages]
    trigger = NewLateRows(lake=pipeline.lake, stages=stages, poke_interval=schedule.poke_interval / SECOND)
    return Asset(f"{name}/late rows", watchers=[AssetWatcher("late rows", trigger)])


class NewLateRows(BaseEventTrigger):
    """Fires when stages have late rows that no restatement has counted, and again when newer ones come.

    It looks every `poke_interval` seconds. Another triggerer that goes on with it fires once more, and finds out so
    that there is nothing to restate. A lake that cannot be read from here is looked at again.
    """

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
        """An event for each look that finds late rows in a tick behind those that were found before."""
        told: dict[tuple[str, int], int] = {}
        while True:
            found = await asyncio.to_thread(self._look)
            if any(one.tick > told.get(one.of, 0) for one in found):
                told.update({one.of: max(one.tick, told.get(one.of, 0)) for one in found})
                yield _event({one.stage: {"rows": one.rows, "tick": one.tick} for one in found})
            await asyncio.sleep(self.poke_interval)

    def _look(self) -> list[LateRows]:
        """The late rows as they stand; none where the lake cannot be read."""
        try:
            return late_rows_in(ArrowTables(), Lake.of(self.lake), self.stages)
        except Exception as error:  # whatever it is, a later look may not meet it
            self.log.warning("Whether there are late rows is not known here: %s", error)
            return []


def _event(late: Mapping[str, Any]) -> TriggerEvent:
    return TriggerEvent({"late": late})  # type: ignore[no-untyped-call]
