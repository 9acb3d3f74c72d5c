"""What holds the watermark of a stage back, in words: for whoever asks why a window is not complete.

Rule: docs/semantics.md#watermarks.
"""

from __future__ import annotations

from dataclasses import dataclass

from windrow.engine.clocks.clock import InputClock, StageClock
from windrow.spec.pipelines.pipeline import Pipeline
from windrow.spec.sources.source import Source
from windrow.spec.sources.watermarks import Watermark
from windrow.spec.stages.stage import Stage
from windrow.spec.words import length, many
from windrow.store.journal.control import Control
from windrow.view.text.times import moment


@dataclass(frozen=True)
class Holding:
    """What holds the watermark of a stage back, in words."""

    pipeline: Pipeline
    stage: Stage

    def back(self, control: Control) -> str:
        """`held back by partition EWR, whose newest event is of 2013-01-01 05:00`; empty where nothing can be said.

        Of several inputs the one whose watermark is the least; an idle one only where all are.
        """
        read = self.pipeline.upstreams_of(self.stage)
        inputs = {name: one for name, one in control.clock.inputs.items() if name in read}
        found = [self._of(read[name], one, control.clock.now, len(inputs) > 1) for name, one in inputs.items()]
        return min(found)[-1] if found else ""

    def _of(self, read: Source | Stage, one: InputClock, now: int, is_named: bool) -> tuple[bool, int, str]:
        """Whether an input is idle, its watermark, and what that is made by."""
        clock = one.clock
        if isinstance(read, Stage):
            return False, clock.watermark, f"it comes with the panes of stage {read.name}"
        rule = self.stage.watermark_over(read.watermark)
        known = clock.partition_watermarks(rule)
        if not known:
            waits = rule.idle_timeout is None or now - one.began < rule.idle_timeout
            return not waits, clock.watermark, f"source {read.name} has sent nothing yet"
        idle = clock.idle(rule)
        active = {name: watermark for name, watermark in known.items() if name not in idle}
        source = f" of source {read.name}" if is_named else ""
        if not active:
            return True, clock.watermark, f"all partitions{source} are idle"
        least = min(active.values())
        names = [name for name, watermark in active.items() if watermark == least]
        newest = clock.partitions[names[0]].greatest_event_time
        of = f"whose newest event is of {moment(newest)}"
        if len(known) == 1:
            delay = "" if rule.bounded_delay is None else f", less {length(rule.bounded_delay)}"
            return False, least, f"the newest event that source {read.name} has sent is of {moment(newest)}{delay}"
        some = "a partition" if read.hides_partitions else f"partition {', '.join(str(name) for name in names[:3])}"
        more = f" and {many(len(names) - 3, 'other')}" if len(names) > 3 else ""
        return False, least, f"held back by {some}{more}{source}, {of}"


def slowest_of(source: str, rule: Watermark, hides_partitions: bool, clock: StageClock) -> str:
    """The source, or those of its partitions that are behind the others by its rule."""
    named = f"source {source}"
    if not clock.partitions:
        return f"{named}, which has sent nothing"
    idle = clock.idle(rule)
    awake = {name: at for name, at in clock.partition_watermarks(rule).items() if name not in idle}
    if not awake:
        return f"{named}, which is idle"
    slowest = sorted(str(name) for name, at in awake.items() if at == min(awake.values()))
    if len(clock.partitions) == 1:
        return named
    if hides_partitions:
        return f"{len(slowest)} of {len(clock.partitions)} partitions of {named}"
    return f"partition {', '.join(slowest[:3])} of {named}"
