"""Where a pipeline stands, read from its tables; nothing is written, and a changed file is no hindrance."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from windrow.compile.elements.envelope import FORGOTTEN, QUARANTINED
from windrow.compile.panes.panes import TIMINGS
from windrow.drivers.clock import clock_micros
from windrow.drivers.inspect.freshness import stage_freshness
from windrow.drivers.inspect.look import look
from windrow.drivers.inspect.status.control_rows import ControlRows, written_since
from windrow.drivers.inspect.status.kept import kept_of
from windrow.drivers.inspect.status.logs import Landed, LogRows, RawRows, dead_rows, panes_of, together
from windrow.drivers.inspect.status.open_windows_of_slices import OpenWindows
from windrow.drivers.inspect.status.tick_sums import TickSums
from windrow.drivers.inspect.waiting.holding import Holding
from windrow.engine.clocks.clock import StageClock
from windrow.engine.tick.counters import NOTHING
from windrow.spec.pipelines.fingerprint import changes, fingerprint_of
from windrow.spec.pipelines.pipeline import Pipeline
from windrow.spec.sources.source import Source
from windrow.spec.stages.joins import cell_stage
from windrow.spec.stages.stage import Stage
from windrow.spec.triggers.firings import keeps_slices
from windrow.store.delta.floors import Floors, time_floor
from windrow.store.delta.location import Lake
from windrow.store.journal.control import Control
from windrow.store.reading.generations import Generation, newest_generations
from windrow.store.reading.tables import Condition, Groups, LakeTable, Tables
from windrow.store.upstream.offsets import Offsets, steps_between
from windrow.view.freshness import StageFreshness
from windrow.view.status import InputStatus, PartitionStatus, SourceStatus, StageStatus

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def status(pipeline: Pipeline, spark: SparkSession | None = None) -> tuple[list[SourceStatus], list[StageStatus]]:
    """Where every source and every stage of the pipeline stands.

    The tables are read by `deltalake`; the session is for a lake that it cannot read. Errors: NotReadable where it
    cannot and there is no session.
    """
    return look(pipeline, spark, lambda tables: status_in(tables, pipeline))


def status_in(tables: Tables, pipeline: Pipeline) -> tuple[list[SourceStatus], list[StageStatus]]:
    """The same, as these tables tell it."""
    reader = _Reader.of(tables, pipeline)
    return [reader.source(source) for source in pipeline.sources], [reader.stage(stage) for stage in pipeline.stages]


@dataclass(frozen=True)
class _Reader:
    """The tables of a lake as they are opened for one answer; `raw` is that of every source, as all stages see it.

    `logs` are the rows of what stages read, and of every source.
    """

    tables: Tables
    pipeline: Pipeline
    lake: Lake
    generations: Mapping[str, Generation]
    cells: Mapping[str, _Cells]
    raw: Mapping[str, RawRows]
    logs: Mapping[str, LogRows]

    @classmethod
    def of(cls, tables: Tables, pipeline: Pipeline) -> _Reader:
        """Journals first, so that what stages read, which is looked at behind them, has all that they have read.

        A stream may land and tick meanwhile.
        """
        lake = Lake.of(pipeline.lake)
        generations = newest_generations(tables, lake.internal("generations"))
        stages = [stage for stage in pipeline.stages if stage.name in generations]
        cells = {one.name: _Cells.of(tables, lake, one, generations[one.name].number) for one in stages}
        raw = {source.name: RawRows.of(tables, lake, source.name) for source in pipeline.sources}
        read = _steps_read(pipeline, {stage: one.controls.last for stage, one in cells.items() if one.controls})
        logs = {name: one.rows(read.get(name, ())) for name, one in raw.items()}
        for name in read.keys() - raw.keys():
            generation = generations[name].number if name in generations else 0
            logs[name] = panes_of(tables, lake, name, generation, read[name])
        return cls(tables, pipeline, lake, generations, cells, raw, logs)

    def source(self, source: Source) -> SourceStatus:
        raw = self.raw[source.name]
        if raw.last == 0:
            return SourceStatus(source.name, 0)
        path = source.connector.location
        kept = kept_of(self.tables, path, raw) if path is not None and raw.are_elsewhere else None
        landed = self.logs[source.name].landed(raw.last)
        rows = sum(read for read, _ in landed.values())
        files = raw.files(self.tables.open(self.lake.table(source.name, "landings")))
        offsets = raw.offsets if source.connector.HAS_PARTITIONS else {}
        return SourceStatus(source.name, raw.last, rows, files, dead_rows(landed), *raw.times, offsets, kept)

    def stage(self, stage: Stage) -> StageStatus:
        generation, read = self.generations.get(stage.name), self.pipeline.upstreams_of(stage)
        if generation is None:
            return StageStatus(stage.name)
        above = {name: one.number for name, one in self.generations.items()}
        changed = changes(generation.fingerprint, fingerprint_of(stage, read, above))
        cells = self.cells[stage.name]
        controls = cells.controls
        if controls is None:
            return StageStatus(stage.name, generation.number, changed)
        last, logs = controls.last, {name: self.logs[one.name] for name, one in read.items()}
        by_input = {name: log.landed(last.offsets.of(name)) for name, log in logs.items()}
        landed = together([*by_input.values()])
        table = self._table(stage, "ticks")
        ticks = TickSums.of(table, generation.number, last.tick)
        behind = written_since(cells.journal, ticks.projected_to) if ticks.projected_to < last.tick else NOTHING
        counters = controls.counters + ticks.counters + behind
        # a weight is judged when its row lands, all other expressions in the tick
        dead = _when_read(dead_rows(landed), counters.dead_rows)
        dead["bad_expression"] = dead.get("bad_expression", 0) + counters.bad_expression - counters.bad_gap
        dead["bad_gap"] = counters.bad_gap
        head = Offsets({name: log.last for name, log in logs.items()})
        current = self._table(stage, "current")
        return StageStatus(
            stage=stage.name,
            generation=generation.number,
            changed=changed,
            tick=last.tick,
            kind=last.kind,
            planning_ms=last.duration_ms,
            emits=last.counters.panes + last.counters.retractions > 0,
            now=last.clock.now,
            watermark=last.clock.watermark,
            partitions=[p for name, one in read.items() for p in _partitions(stage, name, one, last.clock)],
            reads_a_stage=all(isinstance(one, Stage) for one in read.values()),
            batches_behind=steps_between(last.offsets, head, {name: log.name for name, log in logs.items()}),
            rows_behind=sum(behind for _, behind in landed.values()),
            projected_to=ticks.projected_to,
            ticks_to_refresh=0
            if current is None or table is None
            else _ticks_to_refresh(table, current, generation.number),
            in_raw=_in_logs(landed, controls, self._have_lost(controls, read)),
            read=counters.read,
            in_windows=counters.in_windows,
            filtered=counters.filtered,
            unassigned=counters.unassigned,
            dead={reason: number for reason, number in dead.items() if number},
            assigned=counters.assigned,
            late=counters.late,
            closed=counters.closed,
            timings=self._timings(stage, generation.number),
            retracted=counters.retractions,
            shown=0 if current is None else current.number_of_rows(),
            open_cells=cells.open_windows(stage, last) if cells.are_slices else ticks.open_cells,
            backfills=ticks.backfills,
            freshness=self._freshness(stage),
            inputs=[_input(read[name], logs[name], last.offsets.of(name), one) for name, one in by_input.items()],
            held_by=Holding(self.pipeline, stage).back(last),
            committed_at=None if cells.journal is None else cells.journal.stepped_at(),
        )

    def _have_lost(self, controls: ControlRows, read: Mapping[str, Source | Stage]) -> bool:
        """Whether rows were removed from what a stage reads: panes that a stage in front has forgotten, or old rows."""
        if controls.has_forgotten and any(isinstance(one, Stage) for one in read.values()):
            return True
        names = [time_floor(one.name, "panes" if isinstance(one, Stage) else "raw") for one in read.values()]
        return any(Floors.of(self.lake).read(self.tables, name) for name in names)

    def _freshness(self, stage: Stage) -> StageFreshness | None:
        if stage.freshness is None:
            return None
        return stage_freshness(self.tables, self.lake, stage.name, stage.freshness, clock_micros())

    def _timings(self, stage: Stage, generation: int) -> dict[str, int]:
        """Those that the table shows; none of an older generation."""
        panes = self._table(stage, "panes")
        if panes is None or panes.notes().get("generation") != generation:
            return {}
        found = panes.numbers("timing", Condition("weight", ">", 0))
        return {timing: found[timing] for timing in TIMINGS if timing in found}

    def _table(self, stage: Stage, name: str) -> LakeTable | None:
        return self.tables.open(self.lake.table(stage.name, name))


@dataclass(frozen=True)
class _Cells:
    """The journal of a stage with its control rows, and its snapshot where cells are slices.

    That is opened first: the journal then has all that is behind it, even if somebody compacts meanwhile.
    """

    are_slices: bool
    snapshot: LakeTable | None
    snapshot_tick: int
    journal: LakeTable | None
    controls: ControlRows | None

    @classmethod
    def of(cls, tables: Tables, lake: Lake, stage: Stage, generation: int) -> _Cells:
        are_slices, place = keeps_slices(cell_stage(stage)), lake.cells(stage.name, generation)
        snapshot = tables.open(place.location) if are_slices else None
        tick = 0 if snapshot is None else snapshot.last_step(place.app_id)
        journal = tables.open(lake.journal(stage.name, generation).location)
        return cls(are_slices, snapshot, tick, journal, ControlRows.of(journal, stage.name))

    def open_windows(self, stage: Stage, last: Control) -> int:
        assert self.journal is not None
        windows = OpenWindows(stage.window, last.clock.expired_end, last.published, tuple(stage.keys))
        return windows.over(self.snapshot, self.snapshot_tick, self.journal)


def _ticks_to_refresh(ticks: LakeTable, current: LakeTable, generation: int) -> int:
    """The ticks with panes, in the table `ticks`, which `current` does not show yet."""
    notes = current.notes()
    until = int(notes["journal_step"]) if notes.get("generation") == generation else 0
    later = (Condition("generation", "=", generation), Condition("tick", ">", until))
    panes = ticks.groups(Groups(by=("tick",), totals=("panes", "retractions")), *later).to_pylist()
    return sum(bool(tick["panes"] or tick["retractions"]) for tick in panes)


def _steps_read(pipeline: Pipeline, controls: Mapping[str, Control]) -> Mapping[str, set[int]]:
    """By source and stage, the steps up to which stages that have run have read it."""
    found: dict[str, set[int]] = {}
    for stage, control in controls.items():
        for name, one in pipeline.upstreams_of(pipeline.stage(stage)).items():
            found.setdefault(one.name, set()).add(control.offsets.of(name))
    return found


def _in_logs(landed: Landed, controls: ControlRows, have_lost: bool) -> int:
    """The rows that the logs have so far; where they have lost some, what is not there counts as read."""
    found = sum(number for number, _ in landed.values())
    return max(found, controls.counters.read) if have_lost else found


def _when_read(dead: Mapping[str, int], read: int) -> dict[str, int]:
    """Without the rows that the stage had read before they were taken out: it has counted them as alive.

    Dead rows that retention has removed since are `removed`.
    """
    since, found = sum(dead.values()) - read, dict(dead)
    for reason in (FORGOTTEN, QUARANTINED):
        taken = max(0, min(since, found.get(reason, 0)))
        found |= {reason: found[reason] - taken} if taken else {}
        since -= taken
    return found if since >= 0 else {**found, REMOVED: -since}


REMOVED = "removed"
"""The reason of dead rows that retention has removed from a log: theirs is not known any more."""


def _input(read: Source | Stage, log: LogRows, step: int, landed: Landed) -> InputStatus:
    """What an input that is read up to a step has not read yet."""
    rows = sum(behind for _, behind in landed.values())
    return InputStatus(read.name, max(0, log.last - step), rows, isinstance(read, Stage))


def _partitions(stage: Stage, name: str, read: Source | Stage, clock: StageClock) -> list[PartitionStatus]:
    """The source partitions of an input."""
    if name not in clock.inputs:
        return []
    clock = clock.inputs[name].clock
    if isinstance(read, Stage):
        return [PartitionStatus(read.name, clock.watermark, False, clock.now)]
    rule = stage.watermark_over(read.watermark)
    idle = clock.idle(rule)
    return [
        PartitionStatus(name, watermark, name in idle, clock.partitions[name].last_seen)
        for name, watermark in clock.partition_watermarks(rule).items()
    ]
