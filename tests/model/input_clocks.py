"""The watermarks of the inputs of a stage, and the clock of the stage that they make.

Rule: docs/semantics.md#several-inputs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from tests.model.clock import FIRST_CLOCK, Clock, WatermarkGenerator, given
from tests.model.elements import Reading, asserted
from tests.model.typed_stage import TypedStage
from windrow.spec.times import MINUS_INFINITY, saturating_add


@dataclass
class InputClock:
    """The watermark of one input, which is given from outside, or by the upstream in-band.

    `is_idle` says that it holds the others back no more, `has_sent` that there is something to go by.
    """

    clock: Clock = FIRST_CLOCK
    is_idle: bool = False

    @property
    def has_sent(self) -> bool:
        return self.clock.watermark_after != MINUS_INFINITY

    @property
    def partitions(self) -> Mapping[str, int] | None:
        """The watermarks of its source partitions that are not idle; None where it has none that are known."""
        return None

    def advance(self, typed: TypedStage, reading: Reading, now: int, watermark: int | None, greatest_end: int) -> None:
        """A tick: its elements, and the watermark where that is given."""
        self.clock = given(self.clock, now, watermark)


@dataclass
class InBandClock(InputClock):
    """That of a stage that is read: its output watermark, which comes with its panes; one source partition."""

    upstream: str = ""

    @property
    def partitions(self) -> Mapping[str, int] | None:
        return {self.upstream: self.clock.watermark_after} if self.has_sent else {}

    def advance(self, typed: TypedStage, reading: Reading, now: int, watermark: int | None, greatest_end: int) -> None:
        by = 0 if typed.stage.element_time is None else typed.stage.element_time.backward
        super().advance(
            typed, reading, now, None if watermark is None else saturating_add(watermark, -by), greatest_end
        )


@dataclass
class MadeClock(InputClock):
    """That of a source, made of its elements; an input that has sent nothing is idle `idle_timeout` after the start."""

    generator: WatermarkGenerator = field(kw_only=True)
    began: int | None = None

    @property
    def has_sent(self) -> bool:
        return bool(self.generator.partitions)

    @property
    def partitions(self) -> Mapping[str, int] | None:
        return self.clock.partitions_after

    def advance(self, typed: TypedStage, reading: Reading, now: int, watermark: int | None, greatest_end: int) -> None:
        self.began = now if self.began is None else self.began
        moving = [(row.element.partition or "", row.source_time, asserted(typed, row)) for row in reading.moving]
        self.generator = self.generator.advance(now, moving, greatest_end)
        self.clock = self.generator.clock
        timeout = self.generator.rule.idle_timeout
        waited_long = timeout is not None and now - self.began >= timeout
        self.is_idle = not self.clock.partitions_after if self.has_sent else waited_long


def meet(before: Clock, now: int, inputs: Sequence[InputClock]) -> Clock:
    """The clock of a stage after a tick: the minimum over the inputs that are not idle.

    When all are idle, the minimum over those that have sent something: how far each has gone on by itself.
    """
    holding = [one for one in inputs if not one.is_idle] or [one for one in inputs if one.has_sent]
    clock = given(before, now, min((one.clock.watermark_after for one in holding), default=None))
    percentiles = {p for one in inputs for p in one.clock.percentiles_after}
    made = {p: min((one.clock.watermark_of(p) for one in holding), default=MINUS_INFINITY) for p in percentiles}
    return replace(
        clock,
        partitions_before=before.partitions_after,
        partitions_after=_partitions(inputs),
        percentiles_before=before.percentiles_after,
        percentiles_after={p: max(watermark, before.watermark_of(p)) for p, watermark in made.items()},
    )


def _partitions(inputs: Sequence[InputClock]) -> Mapping[str, int] | None:
    """Those of all inputs; None where an input has none that are known."""
    known = [(str(number), one.partitions) for number, one in enumerate(inputs)]
    if any(partitions is None for _, partitions in known):
        return None
    return {f"{number}/{name}": mark for number, of in known if of is not None for name, mark in of.items()}
