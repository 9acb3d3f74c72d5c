"""A stage that runs: ticks one after the other, with the cells, the clock and the watermark between them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from tests.model.assign import assign
from tests.model.clock import FIRST_CLOCK, Clock, WatermarkGenerator, given
from tests.model.elements import Element, Reading, read
from tests.model.tick import Cells, Tick, tick
from tests.model.typed_stage import TypedStage
from windrow.spec.stages import Stage
from windrow.spec.times import MINUS_INFINITY
from windrow.spec.watermarks import Watermark


class Stream:
    """A stage that ticks. With a watermark rule the watermark is made from the elements, else every tick is given it.

    stream = Stream(stage, {"k": "string", "v": "bigint"})
    result = stream.tick(elements, now=5_000_000, watermark=2_000_000)
    """

    def __init__(self, stage: Stage, schema: Mapping[str, str], watermark: Watermark | None = None) -> None:
        self.typed = TypedStage(stage, schema, watermark)
        self.cells: Cells = {}
        self.clock: Clock = FIRST_CLOCK
        self._generator = None if watermark is None else WatermarkGenerator(_held_back(stage, watermark))
        self._greatest_end = MINUS_INFINITY

    def tick(self, elements: Iterable[Element] = (), now: int | None = None, watermark: int | None = None) -> Tick:
        """One tick. `now`, which must not go back, and a watermark that is given stay as they are if they are None."""
        elements = tuple(elements)
        self.clock = self._next_clock(elements, now, watermark)
        result = tick(self.typed, self.cells, elements, self.clock)
        self.cells = result.cells
        return result

    def _next_clock(self, elements: tuple[Element, ...], now: int | None, watermark: int | None) -> Clock:
        if self._generator is None:
            return given(self.clock, now, watermark)
        now = self.clock.now if now is None else now
        reading = read(self.typed, elements, now)
        self._greatest_end = max(self._greatest_end, self._ends(reading))
        self._generator = self._generator.advance(now, reading.moving, self._greatest_end)
        return self._generator.clock

    def _ends(self, reading: Reading) -> int:
        windows = (window for row in reading.rows for window in assign(self.typed.stage.window, row.event_time))
        return max((window.end for window in windows), default=MINUS_INFINITY)


def _held_back(stage: Stage, rule: Watermark) -> Watermark:
    """The rule with its lengths longer by how far an element of the stage may lie before the source's time."""
    if stage.element_time is None:
        return rule
    by = stage.element_time.backward
    if rule.bounded_delay is not None:
        return replace(rule, bounded_delay=rule.bounded_delay + by)
    return replace(rule, fixed_lag=(rule.fixed_lag or 0) + by, processing_time=False)
