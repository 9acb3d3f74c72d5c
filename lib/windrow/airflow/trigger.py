"""What a run does while it waits: a look at the lake now and then, in Airflow's triggerer, without a JVM."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from airflow.triggers.base import BaseTrigger, TriggerEvent

from windrow.drivers.clock import clock_micros
from windrow.drivers.inspect.arrivals import Arrivals
from windrow.drivers.inspect.waiting import Waiting, waiting_in
from windrow.spec.pipelines.schedules import OnTimeout
from windrow.store.delta.location import Lake
from windrow.store.reading.arrow import ArrowTables
from windrow.view.waiting import waits_text

THEN = {
    OnTimeout.FAIL: "it fails",
    OnTimeout.EARLY: "it shows the windows early",
    OnTimeout.WHOLE: "it publishes the windows as last",
}
MOST = 12
"""After so many looks the task lands again though nothing seems to have come: a look at files may be wrong."""


class WindowsExpired(BaseTrigger):
    """Fires when the windows of a run have expired, when somebody has to land, or when the run has waited long enough.

    It looks every `poke_interval` seconds, and fires when that has passed at the earliest: the step that waits has just
    looked. `until` are the watermarks that the run waits for, by stage, in microseconds; `sources` the fields of
    `Arrivals`; `deadline` is a time in ISO 8601, and `on_timeout` what the task does then. It goes on looking where a
    stream moves these watermarks, and where nothing new has come for their sources, but `MOST` times at most then. A
    lake that cannot be read from here is left to the task.
    """

    def __init__(
        self,
        *,
        lake: str,
        until: Mapping[str, int],
        sources: Sequence[Mapping[str, Any]],
        deadline: str,
        on_timeout: str,
        poke_interval: float,
    ) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.lake = lake
        self.until = dict(until)
        self.sources = [dict(source) for source in sources]
        self.deadline = deadline
        self.on_timeout = on_timeout
        self.poke_interval = poke_interval

    def serialize(self) -> tuple[str, dict[str, Any]]:
        """How Airflow keeps it, to go on in another process."""
        names = ("lake", "until", "sources", "deadline", "on_timeout", "poke_interval")
        return f"{__name__}.{type(self).__name__}", {name: getattr(self, name) for name in names}

    async def run(self) -> AsyncIterator[TriggerEvent]:
        """The one event says why the task goes on."""
        first, looks = await self._look(), 0
        while True:
            left = (datetime.fromisoformat(self.deadline) - datetime.now(UTC)).total_seconds()
            if left <= 0:
                yield _event(f"it has waited long enough: until {self._until}")
                return
            if left <= self.poke_interval:
                await asyncio.sleep(left)
                continue
            await asyncio.sleep(self.poke_interval)
            found, looks = await self._look(first), looks + 1
            is_enough = looks >= MOST and found is not None and not found.is_left_to_streams
            if found is None or found.is_over or found.may_move or is_enough:
                yield _event("it cannot be seen from here" if found is None else waits_text(found, clock_micros()))
                return

    async def _look(self, before: Waiting | None = None) -> Waiting | None:
        """What stands in the lake, told in the log of the task; None where it cannot be read."""
        sources = [Arrivals(**source) for source in self.sources]
        try:
            lake = Lake.of(self.lake)
            found = await asyncio.to_thread(waiting_in, ArrowTables(), lake, self.until, sources, before)
        except Exception as error:  # whatever it is, the task meets it too, and says so
            self.log.warning("What the run waits for is not known here: %s", error)
            return None
        words = waits_text(found, clock_micros())
        self.log.info("%s", words if found.is_over else f"Waits until {self._until}: {words}")
        return found

    @property
    def _until(self) -> str:
        """The deadline, and what comes then."""
        moment = datetime.fromisoformat(self.deadline).astimezone(UTC)
        return f"{moment:%Y-%m-%d %H:%M}, then {THEN[OnTimeout(self.on_timeout)]}"


def _event(why: str) -> TriggerEvent:
    return TriggerEvent(why)  # type: ignore[no-untyped-call]
