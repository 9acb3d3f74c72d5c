"""What a task does behind its work: it gives events to the assets for which something has changed in the lake.

A task that is made again tells of nothing twice: what has been told stands in the events themselves. Of a lake that
only Spark can read nothing is known here: the tables have an event then, without numbers.
"""

from __future__ import annotations

import logging
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from airflow.sdk import Asset, AssetAlias

from windrow.airflow.telling.assets import alias_of, assets_of
from windrow.drivers.inspect.telling.runs import Published, published_in
from windrow.drivers.inspect.telling.ticked import ticked_in
from windrow.spec.errors import SpecError
from windrow.spec.pipelines.pipeline import Pipeline
from windrow.spec.times import SECOND, format_time
from windrow.store.delta.location import Lake
from windrow.store.reading.arrow import ArrowTables

NEWEST = 100
"""So many events of an alias are looked at first for what has been told."""
APART = timedelta(hours=1)
"""So far may the clock of a driver be ahead of Airflow's."""
_LOG = logging.getLogger(__name__)

Extra = dict[str, Any]
"""What an event says."""


@dataclass(frozen=True)
class Changes(ABC):
    """What a task tells of its pipeline, by events of the alias of its assets."""

    pipeline: Pipeline

    @abstractmethod
    def found(self, lake: Lake, run: str, events: Any) -> Iterator[tuple[Asset, Extra]]:
        """What has changed that none of these `events` has told; Airflow reads them as far as it must.

        Raises SpecError.
        """

    def when_unknown(self, run: str) -> Iterator[tuple[Asset, Extra]]:
        """What is told of a lake that cannot be read from here: better that a consumer runs too often than never."""
        for asset in assets_of(self.pipeline).values():
            yield asset, {"run": run}


class RunChanges(Changes):
    """An event for the table of each stage that the run has changed; none where those of a stream told of its tick."""

    def found(self, lake: Lake, run: str, events: Any) -> Iterator[tuple[Asset, Extra]]:
        assets, published = assets_of(self.pipeline), published_in(ArrowTables(), lake, run)
        if not published:
            return
        first = datetime.fromtimestamp(min(one.at for one in published) / SECOND, UTC)
        extras = _extras(events.after(first - APART))
        told, by_stream = set(map(_commit, extras)), _newest(extra for extra in extras if "panes" in extra)
        for one in published:
            extra, is_new = _extra(run, one), one.tick > by_stream.get((one.stage, one.generation), 0)
            if one.stage in assets and is_new and _commit(extra) not in told:
                yield assets[one.stage], extra


class StreamChanges(Changes):
    """An event for the table of each stage that has shown panes in ticks of which there is no event yet."""

    def found(self, lake: Lake, run: str, events: Any) -> Iterator[tuple[Asset, Extra]]:
        assets = assets_of(self.pipeline)
        for one in ticked_in(ArrowTables(), lake, assets, _told(assets.keys(), events)):
            yield assets[one.stage], {"run": run, **asdict(one)}


def _told(stages: Collection[str], events: Any) -> dict[tuple[str, int], int]:
    """By stage and generation, the last tick that an event has told; of a stage that changes seldom it may be old."""
    number = NEWEST
    while True:
        extras = _extras(events.ascending(False).limit(number))
        told = _newest(extras)
        if len(extras) < number or {stage for stage, _ in told} >= set(stages):
            return told
        number *= 10


@dataclass(frozen=True)
class Announcement:
    """The events of a task, behind its work. `run_of` gives the name of a run in the lake."""

    changes: Changes
    run_of: Callable[[str], str]

    @property
    def alias(self) -> AssetAlias:
        return alias_of(self.changes.pipeline)

    def __call__(self, context: Any, result: Any = None) -> None:
        events = context["inlet_events"][self.alias]
        for asset, extra in self._found(self.run_of(context["run_id"]), events):
            context["outlet_events"][self.alias].add(asset, extra)

    def _found(self, run: str, events: Any) -> list[tuple[Asset, Extra]]:
        try:
            return list(self.changes.found(Lake.of(self.changes.pipeline.lake), run, events))
        except SpecError as error:
            _LOG.warning("What has changed is not known here: %s", error)
            return list(self.changes.when_unknown(run))


def _extras(events: Any) -> list[Extra]:
    return [event.extra or {} for event in events]


def _newest(extras: Iterable[Extra]) -> dict[tuple[str, int], int]:
    """By stage and generation, the newest tick that these events have told of."""
    told: dict[tuple[str, int], int] = {}
    for extra in extras:
        if "generation" in extra:
            stage = (extra["stage"], extra["generation"])
            told[stage] = max(extra["tick"], told.get(stage, 0))
    return told


def _commit(extra: Extra) -> tuple[Any, ...]:
    return tuple(extra.get(name) for name in ("run", "stage", "generation", "tick"))


def _extra(run: str, one: Published) -> Extra:
    span = {"from": format_time(one.start), "to": format_time(one.end)}
    said = {name: value for name, value in asdict(one).items() if name not in ("start", "end", "at")}
    return {"run": run, **span, **said}
