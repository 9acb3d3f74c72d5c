"""What a run does while it waits: a look at the lake now and then, in Airflow's triggerer, without a JVM.

It looks at the watermarks that the run waits for, and at how old the results are meanwhile.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, ClassVar

from airflow.triggers.base import BaseTrigger, TriggerEvent

from windrow.airflow.telling.freshness import worse_than
from windrow.drivers.clock import clock_micros
from windrow.drivers.inspect.freshness import freshness_among
from windrow.drivers.inspect.waiting.arrivals import Arrivals
from windrow.drivers.inspect.waiting.waiting import LandedSource, Waiting, waiting_in
from windrow.spec.pipelines.schedules import OnTimeout
from windrow.spec.stages.freshness import Freshness
from windrow.store.delta.location import Lake
from windrow.store.reading.arrow import ArrowTables
from windrow.view.freshness import StageFreshness, freshness_lines
from windrow.view.waiting import waits_text

THEN = {
    OnTimeout.FAIL: "it fails",
    OnTimeout.EARLY: "it shows the windows early",
    OnTimeout.WHOLE: "it publishes the windows as last",
}
MOST = 12
"""After so many looks the task lands again though nothing seems to have come: a look at files may be wrong."""
STALE = "stale"
"""In the payload of an event that only wants somebody to be told: the stages that have become staler, in words."""
LANDED = "landed"
"""In the same payload: the newest landing step of each source, from which the task goes on waiting."""


class WindowsExpired(BaseTrigger):
    """Fires when the windows of a run have expired, when somebody has to land, or when the run has waited long enough.

    It fires too when results have become staler than `told` says, by what is `allowed` of each stage: the task tells of
    it and waits on, from the landing steps `landed`.

    It looks every `poke_interval` seconds, and fires when that has passed at the earliest: the step that waits has just
    looked. `until` are the watermarks that the run waits for, by stage, in microseconds; `sources` the fields of
    `Arrivals`; `deadline` is a time in ISO 8601, and `on_timeout` what the task does then. It goes on looking where a
    stream moves these watermarks, and where nothing new has come for their sources, but `MOST` times at most then. A
    lake that cannot be read from here is left to the task. `due` is when the run should have ended.
    """

    FIELDS: ClassVar = (
        "lake", "until", "sources", "deadline", "on_timeout", "poke_interval", "allowed", "told", "landed", "due"
    )  # fmt: skip

    def __init__(
        self,
        *,
        lake: str,
        until: Mapping[str, int],
        sources: Sequence[Mapping[str, Any]],
        deadline: str,
        on_timeout: str,
        poke_interval: float,
        allowed: Mapping[str, Mapping[str, Any]] | None = None,
        told: Mapping[str, str] | None = None,
        landed: Mapping[str, int] | None = None,
        due: str | None = None,
    ) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.lake = lake
        self.until = dict(until)
        self.sources = [dict(source) for source in sources]
        self.deadline = deadline
        self.on_timeout = on_timeout
        self.poke_interval = poke_interval
        self.allowed = dict(allowed or {})
        self.told = dict(told or {})
        self.landed = dict(landed or {})
        self.due = due

    def serialize(self) -> tuple[str, dict[str, Any]]:
        """How Airflow keeps it, to go on in another process."""
        return f"{__name__}.{type(self).__name__}", {name: getattr(self, name) for name in self.FIELDS}

    async def run(self) -> AsyncIterator[TriggerEvent]:
        """The one event says why the task goes on, or of what it is to tell."""
        before, looks = self._before or (await self._look())[0], 0
        while True:
            left = (datetime.fromisoformat(self.deadline) - datetime.now(UTC)).total_seconds()
            if left <= 0:
                yield _event(f"it has waited long enough: until {self._until}")
                return
            if left <= self.poke_interval:
                await asyncio.sleep(left)
                continue
            await asyncio.sleep(self.poke_interval)
            (found, fresh), looks = await self._look(before), looks + 1
            is_enough = looks >= MOST and found is not None and not found.is_left_to_streams
            if found is None or found.is_over or found.may_move or is_enough:
                yield _event("it cannot be seen from here" if found is None else waits_text(found, clock_micros()))
                return
            if stale := worse_than(self.told, fresh):
                steps = {one.source: one.step for one in (before or found).sources}
                yield _event({STALE: freshness_lines(stale), LANDED: steps})
                return

    @property
    def _before(self) -> Waiting | None:
        """The landing steps from which the task waits on, if it has only told of something in between."""
        if not self.landed:
            return None
        return Waiting([], [LandedSource(one["source"], self.landed.get(one["source"], 0)) for one in self.sources])

    async def _look(self, before: Waiting | None = None) -> tuple[Waiting | None, list[StageFreshness]]:
        """What stands in the lake and how old it is, told in the log of the task; None where it cannot be read."""
        try:
            found, fresh = await asyncio.to_thread(self._read, before)
        except Exception as error:  # whatever it is, the task meets it too, and says so
            self.log.warning("What the run waits for is not known here: %s", error)
            return None, []
        lines = freshness_lines(fresh) if fresh else []
        words = "; ".join([waits_text(found, clock_micros()), *(f"freshness of {line}" for line in lines)])
        self.log.info("%s", words if found.is_over else f"Waits until {self._until}: {words}")
        return found, fresh

    def _read(self, before: Waiting | None) -> tuple[Waiting, list[StageFreshness]]:
        tables, lake = ArrowTables(), Lake.of(self.lake)
        found = waiting_in(tables, lake, self.until, [Arrivals(**source) for source in self.sources], before)
        allowed = {stage: Freshness.from_mapping(one) for stage, one in self.allowed.items()}
        return found, freshness_among(tables, lake, allowed, clock_micros())

    @property
    def _until(self) -> str:
        """When it has waited long enough and what comes then, and when the run should have ended."""
        due = "" if self.due is None else f" (its deadline {_is(self.due)} {_minute(self.due)})"
        return f"{_minute(self.deadline)}, then {THEN[OnTimeout(self.on_timeout)]}{due}"


def _is(due: str) -> str:
    return "was" if datetime.fromisoformat(due) <= datetime.now(UTC) else "is"


def _minute(time: str) -> str:
    return f"{datetime.fromisoformat(time).astimezone(UTC):%Y-%m-%d %H:%M}"


def _event(what: Any) -> TriggerEvent:
    return TriggerEvent(what)  # type: ignore[no-untyped-call]
