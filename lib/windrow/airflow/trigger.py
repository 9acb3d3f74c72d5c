"""What a run does while it waits: a look at the lake now and then, in Airflow's triggerer, without a JVM."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from airflow.triggers.base import BaseTrigger, TriggerEvent

from windrow.drivers.inspect.waiting import Waiting, waiting_in
from windrow.store.delta.location import Lake
from windrow.store.reading.arrow import ArrowTables
from windrow.view.waiting import waits_text


class WindowsExpired(BaseTrigger):
    """Fires when the windows of a run have expired, when somebody has to land, or when the run has waited long enough.

    It looks every `poke_interval` seconds, first when that has passed: the step that waits has just looked. `until`
    are the watermarks that the run waits for, by stage, in microseconds; `deadline` is a time in ISO 8601. Where a
    stream moves these watermarks it goes on looking until they are there. Where none does, new rows are seen by landing
    only, so the first look hands over to the task. A lake that cannot be read from here is left to the task too.
    """

    def __init__(
        self, *, lake: str, until: Mapping[str, int], sources: Sequence[str], deadline: str, poke_interval: float
    ) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.lake = lake
        self.until = dict(until)
        self.sources = list(sources)
        self.deadline = deadline
        self.poke_interval = poke_interval

    def serialize(self) -> tuple[str, dict[str, Any]]:
        """How Airflow keeps it, to go on in another process."""
        names = ("lake", "until", "sources", "deadline", "poke_interval")
        return f"{__name__}.{type(self).__name__}", {name: getattr(self, name) for name in names}

    async def run(self) -> AsyncIterator[TriggerEvent]:
        """The one event says why the task goes on."""
        await self._look()
        while True:
            left = (datetime.fromisoformat(self.deadline) - datetime.now(UTC)).total_seconds()
            if left <= 0:
                yield _event(f"it has waited until {self._until}")
                return
            if left <= self.poke_interval:
                await asyncio.sleep(left)
                continue
            await asyncio.sleep(self.poke_interval)
            found = await self._look()
            if found is None or found.is_over or not found.is_left_to_streams:
                yield _event("it cannot be seen from here" if found is None else waits_text(found))
                return

    async def _look(self) -> Waiting | None:
        """What stands in the lake, told in the log of the task; None where it cannot be read."""
        try:
            found = await asyncio.to_thread(waiting_in, ArrowTables(), Lake.of(self.lake), self.until, self.sources)
        except Exception as error:  # whatever it is, the task meets it too, and says so
            self.log.warning("What the run waits for is not known here: %s", error)
            return None
        self.log.info("Waits at most until %s: %s", self._until, waits_text(found))
        return found

    @property
    def _until(self) -> str:
        return datetime.fromisoformat(self.deadline).isoformat(" ", "minutes")


def _event(why: str) -> TriggerEvent:
    return TriggerEvent(why)  # type: ignore[no-untyped-call]
