"""Stages that read each other and tick in their order; a stage may have several inputs.

Rules: docs/semantics.md#stages-that-read-stages, docs/semantics.md#several-inputs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from tests.model.clock import FIRST_CLOCK, Clock, WatermarkGenerator
from tests.model.cogroup import CoGroup, TypedCoGroup, TypedInput, together
from tests.model.elements import Element, Reading, read
from tests.model.input_clocks import InBandClock, InputClock, MadeClock, meet
from tests.model.join import TypedJoin, collecting
from tests.model.pane_elements import TYPES, element_of
from tests.model.state import State
from tests.model.stream import _held_back as held_back
from tests.model.tick import Tick, transition
from tests.model.typed_stage import TypedStage
from windrow.spec.expressions import Expression
from windrow.spec.sources.watermarks import Watermark
from windrow.spec.stages.chains import emits_retractions
from windrow.spec.stages.cogroups import alone
from windrow.spec.stages.graph import read_by
from windrow.spec.stages.inputs import ONLY
from windrow.spec.stages.stage import Stage
from windrow.spec.times import INFINITY, MINUS_INFINITY
from windrow.spec.triggers.all import percentiles_of

SOURCE = ""
"""The one input of a stage that has no inputs by name."""


@dataclass
class Feed:
    """One input of a stage that runs: how its elements are read, the stage that they come from, its watermark."""

    typed: TypedStage
    upstream: str | None
    clock: InputClock


class Running:
    """A stage that ticks: its state, its clock and its output watermark between ticks."""

    def __init__(self, stage: Stage, typed: TypedStage, feeds: Mapping[str, Feed]) -> None:
        self.stage = stage
        self.typed = typed
        self.feeds = feeds
        self.state = State()
        self.clock: Clock = FIRST_CLOCK
        self.output_watermark = MINUS_INFINITY
        self._greatest_end = MINUS_INFINITY

    @property
    def pane_types(self) -> Mapping[str, str]:
        """The types of its panes' columns."""
        shown = self.typed.shown_types if isinstance(self.typed, TypedJoin) else self.typed.pane_types
        return {**shown, **TYPES}

    def tick(self, arrived: Mapping[str, Sequence[Element]], now: int, watermarks: Mapping[str, int | None]) -> Tick:
        """One tick over the elements of each input, with the watermark of each that is told it."""
        before = self.clock.watermark_after
        readings = {
            name: read(feed.typed, arrived.get(name, ()), now, before, self.output_watermark)
            for name, feed in self.feeds.items()
        }
        self._advance(readings, now, watermarks)
        result = transition(self.typed, self.state, together(self.typed, readings), self.clock)
        self.state = result.state
        self._greatest_end = max([self._greatest_end, *[window.end for _, window in result.cells]])
        self.output_watermark = max(self.output_watermark, min(self.clock.watermark_after, *self._held()))
        if isinstance(self.typed, TypedJoin):
            return replace(result, panes=tuple(row for pane in result.panes for row in self.typed.rows_of(pane)))
        return result

    def _advance(self, readings: Mapping[str, Reading], now: int, watermarks: Mapping[str, int | None]) -> None:
        ends = [window.end for reading in readings.values() for row in reading.rows for window in row.windows]
        self._greatest_end = max([self._greatest_end, *ends])
        for name, feed in self.feeds.items():
            feed.clock.advance(feed.typed, readings[name], now, watermarks.get(name), self._greatest_end)
        clock = meet(self.clock, now, [feed.clock for feed in self.feeds.values()])
        self.clock = replace(clock, output_watermark=self.output_watermark)

    def _held(self) -> list[int]:
        """The event times of panes that are not yet emitted, and +infinity."""
        new = [(window, cell) for (_, window), cell in self.state.cells.items() if cell.new > 0]
        times = [cell.event_time(self.typed, window) for window, cell in new]
        return [INFINITY, *(time for time in times if time is not None)]


class Chain:
    """Stages that tick in their order within one step; each has its own watermark, made or given by what it reads.

    chain = Chain([first, second], {"k": "string", "v": "bigint"})
    ticks = chain.tick(elements, watermark=2_000_000)      # the Tick of every stage, by its name
    """

    def __init__(
        self,
        stages: Sequence[Stage],
        schema: Mapping[str, str],
        watermark: Watermark | Mapping[str, Watermark] | None = None,
        size: Expression | None = None,
        weight: str | None = None,
    ) -> None:
        self._source = (schema, watermark, size, weight)
        self.stages: dict[str, Running] = {}
        self.now = FIRST_CLOCK.now
        reads = read_by(stages)
        for one in stages:
            if one.inputs:
                self.stages[one.name] = self._running_group(CoGroup.of_stage(one))
            else:
                upstream = reads[one.name][ONLY]
                typed = self._typed(one, None if upstream is None else upstream.name)
                feed = self._feed(typed, SOURCE, None if upstream is None else upstream.name)
                self.stages[one.name] = Running(one, typed, {SOURCE: feed})

    def tick(
        self, elements: Iterable[Element] = (), now: int | None = None, watermark: int | None = None
    ) -> Mapping[str, Tick]:
        """One tick of every stage. `now` and a watermark that is given stay as they are if they are None."""
        self.now = self.now if now is None else now
        elements = tuple(elements)
        ticks: dict[str, Tick] = {}
        for name, stage in self.stages.items():
            arrived = {
                of: _of_input(elements, of) if feed.upstream is None else _of_stage(ticks[feed.upstream], feed.upstream)
                for of, feed in stage.feeds.items()
            }
            told = {
                of: watermark if feed.upstream is None else self.stages[feed.upstream].output_watermark
                for of, feed in stage.feeds.items()
            }
            ticks[name] = stage.tick(arrived, self.now, told)
        return ticks

    # ---------------------------------------------------------------- building

    def _typed(self, stage: Stage, upstream: str | None, source: str = SOURCE) -> TypedStage:
        """The stage over the columns of the panes that it reads, or of the source."""
        schema, _, size, weight = self._source
        if upstream is None:
            return TypedStage(stage, schema, self._rule(source), size, weight)
        above = self.stages[upstream]
        return TypedStage(stage, above.pane_types, weight="weight" if emits_retractions(above.stage) else None)

    def _rule(self, source: str) -> Watermark | None:
        rule = self._source[1]
        return rule.get(source) if isinstance(rule, Mapping) else rule

    def _feed(self, typed: TypedStage, name: str, upstream: str | None, stage: Stage | None = None) -> Feed:
        if upstream is not None:
            return Feed(typed, upstream, InBandClock(upstream=upstream))
        rule, whole = self._rule(name), stage or typed.stage
        if rule is None:
            return Feed(typed, None, InputClock())
        generator = WatermarkGenerator(held_back(typed.stage, rule), percentiles_of(whole.trigger))
        return Feed(typed, None, MadeClock(generator=generator))

    def _running_group(self, group: CoGroup) -> Running:
        inputs, feeds = {}, {}
        for name, one in group.inputs.items():
            upstream = one.from_ if one.from_ in self.stages else None
            typed = self._typed(alone(group.stage, one), upstream, name)
            inputs[name] = TypedInput(
                typed.stage, typed.schema, typed.watermark, typed.size, typed.weight, group.stage.trigger
            )
            feeds[name] = self._feed(inputs[name], name, upstream, group.stage)
        weight = "weight" if any(one.weight is not None for one in inputs.values()) else None
        if group.join is None:
            return Running(group.stage, TypedCoGroup(group.stage, {}, weight=weight, inputs=inputs), feeds)
        typed_join = TypedJoin(collecting(group), {}, weight=weight, inputs=inputs, join=group.join)
        return Running(group.stage, typed_join, feeds)


def _of_input(elements: Sequence[Element], name: str) -> list[Element]:
    return [one for one in elements if (one.input or SOURCE) == name]


def _of_stage(tick: Tick, name: str) -> list[Element]:
    return [element_of(pane, name) for pane in tick.panes]
