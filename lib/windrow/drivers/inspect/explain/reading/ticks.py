"""The ticks of a stage, from the control rows of its journal: which of them read a row, and how far time was then."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from windrow.drivers.inspect.explain.question import Bounds
from windrow.engine.clocks.clock import StageClock
from windrow.spec.pipelines.pipeline import Pipeline
from windrow.spec.sources.source import Source
from windrow.spec.stages.keys import LogColumn
from windrow.spec.stages.stage import Stage
from windrow.spec.times import INFINITY, MINUS_INFINITY, saturating_add
from windrow.spec.words import length, many
from windrow.store.journal.control import CONTROL, READING, Control, Interval
from windrow.store.reading.tables import Condition, LakeTable
from windrow.view.text.times import moment

IN_TIME, LATE, COUNTED = "in time", "late", "counted by a backfill"
"""How an element came to a window: before it expired; behind that; or when a batch had it in the window already."""


@dataclass(frozen=True)
class Ticks:
    """The control rows of a generation, in order."""

    stage: Stage
    controls: Sequence[Control]

    @classmethod
    def of(cls, journal: LakeTable | None, stage: Stage) -> Ticks:
        wanted = ("tick", LogColumn.CONTROL), Condition(LogColumn.KIND, "=", CONTROL)
        batches = [] if journal is None else journal.rows(*wanted)
        rows = sorted((row["tick"], row[LogColumn.CONTROL]) for batch in batches for row in batch.to_pylist())
        return cls(stage, [Control.from_json(text) for _, text in rows])

    @property
    def last(self) -> Control | None:
        return self.controls[-1] if self.controls else None

    @cached_property
    def by_number(self) -> Mapping[int, Control]:
        return {control.tick: control for control in self.controls}

    def before(self, control: Control) -> Control | None:
        """The tick before one."""
        return self.by_number.get(control.tick - 1)

    def reading(self, name: str, step: int) -> Control | None:
        """The tick that read a step of an input; null where none has yet."""
        index = bisect_left(self._read[name], step) if name in self._read else len(self.controls)
        return self.controls[index] if index < len(self.controls) else None

    @cached_property
    def _read(self) -> Mapping[str, Sequence[int]]:
        """How far each tick has read each input."""
        names = dict.fromkeys(name for control in self.controls for name in control.offsets.steps)
        return {name: [control.offsets.of(name) for control in self.controls] for name in names}

    def arrival(self, control: Control, name: str, step: int, window: Bounds) -> str:
        """How an element of a step, read in a tick, came to a window: IN_TIME, LATE or COUNTED."""
        start, end = window
        before = self.before(control)
        published = () if before is None else tuple(one for one in before.backfilled if not one.streamed)
        made = [one for one in published if one.made.has(start, end)]
        if any(one.offsets.of(name) >= step for one in made):
            return COUNTED
        return LATE if made or end <= control.late_until else IN_TIME

    def backfills(self, window: Bounds) -> list[tuple[Control, Interval]]:
        """The backfills and restatements that made a window again, with their intervals."""
        return [
            (control, one)
            for control in self.controls
            for one in control.backfilled
            if one.tick == control.tick and one.made.has(*window)
        ]

    def following(self) -> list[Control]:
        """The ticks of a stream, in which triggers are evaluated."""
        return [control for control in self.controls if control.kind in READING]


@dataclass(frozen=True)
class Holding:
    """What holds the watermark of a stage back, in words."""

    pipeline: Pipeline
    stage: Stage

    def back(self, control: Control) -> str:
        """`held back by partition EWR, whose newest event is of 2013-01-01 05:00`; empty where nothing can be said."""
        read = self.pipeline.upstreams_of(self.stage)
        clocks = {name: one.clock for name, one in control.clock.inputs.items() if name in read}
        found = [self._of(read[name], clock) for name, clock in clocks.items()]
        return min(found)[1] if found else ""

    def _of(self, read: Source | Stage, clock: StageClock) -> tuple[int, str]:
        """The watermark of an input, and what it is made by."""
        if isinstance(read, Stage):
            return clock.watermark, f"it comes with the panes of stage {read.name}"
        rule = self.stage.watermark_over(read.watermark)
        known = clock.partition_watermarks(rule)
        if not known:
            return clock.watermark, f"source {read.name} has sent nothing yet"
        idle = clock.idle(rule)
        active = {name: watermark for name, watermark in known.items() if name not in idle}
        if not active:
            return clock.watermark, "all partitions are idle"
        least = min(active.values())
        names = [name for name, watermark in active.items() if watermark == least]
        newest = clock.partitions[names[0]].greatest_event_time
        of = f"whose newest event is of {moment(newest)}"
        if len(known) == 1:
            delay = "" if rule.bounded_delay is None else f", less {length(rule.bounded_delay)}"
            return least, f"the newest event that source {read.name} has sent is of {moment(newest)}{delay}"
        some = "a partition" if read.hides_partitions else f"partition {', '.join(str(name) for name in names[:3])}"
        more = f" and {many(len(names) - 3, 'other')}" if len(names) > 3 else ""
        return least, f"held back by {some}{more}, {of}"


def expiry_of(stage: Stage, window: Bounds) -> int:
    """When a window expires: its end and the allowed lateness."""
    return INFINITY if window[1] == INFINITY else saturating_add(window[1], stage.allowed_lateness)


def known(time: int) -> int | None:
    """A time, or null for one of the infinities."""
    return None if time in (INFINITY, MINUS_INFINITY) else time
