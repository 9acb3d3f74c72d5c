"""A stage that runs: ticks one after the other, with the state, the clock and the watermark between them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from tests.model.clock import FIRST_CLOCK, Clock, WatermarkGenerator, given
from tests.model.elements import Element, Reading, asserted, read
from tests.model.state import State
from tests.model.tick import Tick, tick
from tests.model.typed_stage import TypedStage
from windrow.spec.expressions import Expression
from windrow.spec.sources.watermarks import Watermark
from windrow.spec.stages.stage import Stage
from windrow.spec.times import INFINITY, MINUS_INFINITY
from windrow.spec.triggers.all import percentiles_of


class Stream:
    """A stage that ticks. With a watermark rule the watermark is made from the elements, else every tick is given it.

    stream = Stream(stage, {"k": "string", "v": "bigint"})
    result = stream.tick(elements, now=5_000_000, watermark=2_000_000)
    """

    def __init__(
        self,
        stage: Stage,
        schema: Mapping[str, str],
        watermark: Watermark | None = None,
        size: Expression | None = None,
        weight: str | None = None,
    ) -> None:
        self.typed = TypedStage(stage, schema, watermark, size, weight)
        self.state = State()
        self.clock: Clock = FIRST_CLOCK
        self._generator = None
        if watermark is not None:
            self._generator = WatermarkGenerator(_held_back(stage, watermark), percentiles_of(stage.trigger))
        self._greatest_end = MINUS_INFINITY

    def tick(self, elements: Iterable[Element] = (), now: int | None = None, watermark: int | None = None) -> Tick:
        """One tick. `now`, which must not go back, and a watermark that is given stay as they are if they are None."""
        elements = tuple(elements)
        output = max(self.clock.output_watermark, min(self.clock.watermark_after, *self._held()))
        self.clock = replace(self._next_clock(elements, now, watermark), output_watermark=output)
        result = tick(self.typed, self.state, elements, self.clock)
        self.state = result.state
        self._greatest_end = max([self._greatest_end, *[window.end for _, window in result.cells]])
        return result

    def _held(self) -> list[int]:
        """The event times of panes that are not yet emitted, and +infinity."""
        cells = [(window, cell) for (_, window), cell in self.state.cells.items() if cell.new > 0]
        times = [cell.event_time(self.typed, window) for window, cell in cells]
        return [INFINITY, *(time for time in times if time is not None)]

    def _next_clock(self, elements: tuple[Element, ...], now: int | None, watermark: int | None) -> Clock:
        if self._generator is None:
            return given(self.clock, now, watermark)
        now = self.clock.now if now is None else now
        reading = read(self.typed, elements, now)
        self._greatest_end = max(self._greatest_end, self._ends(reading))
        moving = [(row.element.partition or "", row.source_time, asserted(self.typed, row)) for row in reading.moving]
        self._generator = self._generator.advance(now, moving, self._greatest_end)
        return self._generator.clock

    def _ends(self, reading: Reading) -> int:
        return max((window.end for row in reading.rows for window in row.windows), default=MINUS_INFINITY)


def _held_back(stage: Stage, rule: Watermark) -> Watermark:
    """The rule with its lengths longer by how far an element of the stage may lie before the source's time."""
    if stage.element_time is None:
        return rule
    by = stage.element_time.backward
    if rule.punctuated is not None:
        return rule
    if rule.bounded_delay is not None:
        return replace(rule, bounded_delay=rule.bounded_delay + by)
    return replace(rule, fixed_lag=(rule.fixed_lag or 0) + by, processing_time=False)
