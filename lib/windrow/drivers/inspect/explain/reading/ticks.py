"""The ticks of a stage, from the control rows of its journal: which of them read a row, and how far time was then."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import takewhile

from windrow.drivers.inspect.explain.question import Bounds
from windrow.spec.stages.keys import LogColumn
from windrow.spec.stages.stage import Stage
from windrow.spec.times import INFINITY, MINUS_INFINITY, saturating_add
from windrow.store.journal.control import CONTROL, FORGETTING, READING, Control, Interval
from windrow.store.reading.tables import Condition, LakeTable

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

    def while_all(self, holds: Callable[[Control], bool]) -> Ticks:
        """The ticks before the first of which something does not hold."""
        return Ticks(self.stage, [*takewhile(holds, self.controls)])

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

    @property
    def forgetting(self) -> Control | None:
        """The last tick that has forgotten rows; null where none has. What it has made again shows no pane before."""
        return next((control for control in reversed(self.controls) if control.kind == FORGETTING), None)

    def following(self) -> list[Control]:
        """The ticks of a stream, in which triggers are evaluated."""
        return [control for control in self.controls if control.kind in READING]


def expiry_of(stage: Stage, window: Bounds) -> int:
    """When a window expires: its end and the allowed lateness."""
    return INFINITY if window[1] == INFINITY else saturating_add(window[1], stage.allowed_lateness)


def known(time: int) -> int | None:
    """A time, or null for one of the infinities."""
    return None if time in (INFINITY, MINUS_INFINITY) else time
