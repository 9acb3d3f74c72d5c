"""The windows beside the explained one in a chain: those whose panes are its elements, and those of stages behind.

Rule: docs/semantics.md#stages-that-read-stages.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from windrow.compile.windows.registry import compile_windows
from windrow.drivers.inspect.explain.computing.panes import life_panes
from windrow.drivers.inspect.explain.question import Bounds
from windrow.drivers.inspect.explain.reading.elements import Member, as_rows
from windrow.drivers.inspect.explain.reading.judging import Judge, Judged
from windrow.drivers.inspect.explain.reading.rows import PaneLog, Row, Rows, bounds_of
from windrow.drivers.inspect.explain.reading.shown import Shown
from windrow.drivers.inspect.explain.reading.ticks import Ticks
from windrow.spec.pipelines.masks import masks_of
from windrow.spec.pipelines.pipeline import Pipeline
from windrow.spec.stages.cogroups import by_input
from windrow.spec.stages.stage import Stage
from windrow.store.delta.location import Lake
from windrow.store.journal.control import Control
from windrow.store.reading.generations import Generation
from windrow.store.reading.tables import Condition, Tables
from windrow.view.explain.life import IN_RESULT, Relative

MOST = 50
"""So many windows of stages behind are looked at."""


@dataclass(frozen=True)
class Chain:
    """The stages around one, in the lake of their pipeline."""

    tables: Tables
    pipeline: Pipeline
    lake: Lake
    generations: Mapping[str, Generation]
    _shown: dict[str, Shown] = field(default_factory=dict)

    def upstream(self, members: Sequence[Member]) -> list[Relative]:
        """The windows of the stages that are read whose panes are these members, each once."""
        stages = {stage.name: stage for stage in self.pipeline.stages}
        found: dict[tuple[str, str, Bounds], tuple[Stage, list[Row]]] = {}
        for member in members:
            stage = stages.get(member.source)
            if stage is not None and member.is_element:
                row = member.judged.row
                place = (stage.name, repr(_key(stage, row)), bounds_of(row))
                found.setdefault(place, (stage, []))[1].append(row)
        return [self._relative(stage, rows) for stage, rows in found.values()]

    def behind(self, stage: Stage, rows: Sequence[Row]) -> list[Relative]:
        """The windows of the stages that read a stage, and of those behind them, that these panes went into."""
        return list(self._behind(stage, rows, set()))

    def _behind(self, stage: Stage, rows: Sequence[Row], seen: set[tuple[str, str, Bounds]]) -> Iterator[Relative]:
        for reader in self.pipeline.readers_of(stage):
            for name, alone in by_input(reader).items():
                if self.pipeline.upstreams_of(reader)[name].name == stage.name:
                    yield from self._of_reader(stage, rows, reader, alone, seen)

    def _of_reader(
        self, stage: Stage, rows: Sequence[Row], reader: Stage, alone: Stage, seen: set[tuple[str, str, Bounds]]
    ) -> Iterator[Relative]:
        log, kinds = self.panes(reader), self.panes(stage).kinds
        judge = Judge(alone, kinds, weight="weight")
        judged = [one for row in as_rows(Rows(kinds, rows), stage.name).rows for one in judge.judged(row)]
        for one in judged:
            if one.place != IN_RESULT or one.key is None:
                continue
            for bounds in self._windows(reader, log, one):
                place = (reader.name, repr(one.key), bounds)
                if place in seen or len(seen) >= MOST:
                    continue
                seen.add(place)
                found = log.of_window(partial(_is_of, reader, one.key), bounds)
                yield self._relative(reader, found, one.key, bounds)
                yield from self._behind(reader, found, seen)

    def _windows(self, reader: Stage, log: PaneLog, one: Judged) -> Sequence[Bounds]:
        """The windows that an element went into: by its time, or those of its key that have shown something."""
        if reader.window.FOLLOWS_PANES:
            return [bounds_of(one.row)]
        assert one.event_time is not None
        known = None
        if not reader.window.depends_on_others:
            known = compile_windows(reader.window).windows_holding(one.event_time)
        if known is not None:
            return known
        at = one.event_time
        conditions = Condition("window_start", "<=", at), Condition("window_end", ">", at)
        return sorted({bounds_of(row) for row in log.rows(*conditions).rows if _key(reader, row) == one.key})

    def _relative(
        self, stage: Stage, rows: Sequence[Row], key: Mapping[str, Any] | None = None, bounds: Bounds | None = None
    ) -> Relative:
        own = _key(stage, rows[0]) if key is None else key
        window = bounds_of(rows[0]) if bounds is None else bounds
        masked = masks_of(self.pipeline, stage)
        panes = list(life_panes(stage, rows, self.ticks(stage), masked, {}))
        shown = {name: "***" if name.lower() in masked else value for name, value in own.items()}
        return Relative(stage.name, shown, window, panes)

    def shown(self, stage: Stage) -> Shown:
        """What the tables of a stage show, looked at once: no tick that has read panes which are not shown yet."""
        if stage.name not in self._shown:
            generation = self.generations.get(stage.name)
            found = Shown.of(self.tables, self.lake, stage, 0 if generation is None else generation.number)
            read = self.pipeline.upstreams_of(stage).items()
            ends = {name: self.panes(one).until for name, one in read if isinstance(one, Stage)}

            def has_read_shown(control: Control) -> bool:
                return all(control.offsets.of(name) <= end for name, end in ends.items())

            self._shown[stage.name] = found.until(has_read_shown)
        return self._shown[stage.name]

    def ticks(self, stage: Stage) -> Ticks:
        """The control rows of a stage."""
        return self.shown(stage).ticks

    def panes(self, stage: Stage) -> PaneLog:
        """The panes that a stage shows."""
        return self.shown(stage).panes


def _is_of(stage: Stage, key: Mapping[str, Any], row: Row) -> bool:
    return _key(stage, row) == key


def _key(stage: Stage, row: Row) -> dict[str, Any]:
    return {name: row[name] for name in stage.keys}
