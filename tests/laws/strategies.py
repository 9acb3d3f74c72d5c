"""Hypothesis strategies for laws: random stages, elements and runs of ticks, small enough that things meet.

All times are on a grid of seconds around the epoch, with a microsecond more or less now and then, so that they hit
boundaries. `SCHEMA` is the same for all elements, so that an engine can use one frame for them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from itertools import pairwise
from typing import Any

from hypothesis import strategies as st

from windrow.spec.aggregates import (
    Aggregate,
    Collect,
    Count,
    CountDistinct,
    CountIf,
    First,
    Last,
    Max,
    Mean,
    Min,
    Sum,
)
from windrow.spec.closing import can_close
from windrow.spec.fields import Named
from windrow.spec.schemas import Schema
from windrow.spec.stages import Accumulation, Emission, Stage
from windrow.spec.times import DAY, INFINITY, MINUTE, SECOND
from windrow.spec.transcripts import TranscriptElement
from windrow.spec.triggers import (
    DEFAULT_TRIGGER,
    AfterCount,
    AfterDelay,
    AfterWatermark,
    AllOf,
    AtClose,
    AtPeriod,
    AtWatermark,
    Domain,
    FirstOf,
    Never,
    Repeat,
    RepeatCount,
    RepeatUntil,
    SequenceOf,
    Trigger,
)
from windrow.spec.watermarks import Watermark
from windrow.spec.windows import CalendarWindows, FixedWindows, GlobalWindow, SlidingWindows, Unit, WindowFunction

SCHEMA = Schema(
    {"k": "string", "v": "bigint", "d": "decimal(6, 2)", "x": "double", "s": "string", "many": "array<bigint>"}
)
"""The columns of every element."""

LATENESSES = (0, 1, 10 * SECOND, 30 * SECOND, 30 * SECOND, INFINITY - 1)
AGGREGATES: tuple[tuple[str, Aggregate], ...] = (
    ("num", Count()), ("given", Count("v")), ("positive", CountIf("v > 0")), ("total", Sum("v")), ("money", Sum("d")),
    ("mass", Sum("x")), ("middle", Mean("v")), ("price", Mean("d")), ("least", Min("v")), ("most", Max("s")),
    ("opening", First("v")), ("closing_value", Last("s")), ("kinds", CountDistinct("s")), ("all_values", Collect("v")),
    ("odd", Sum("if(v % 2 = 0, null, v)")),
)  # fmt: skip


@dataclass(frozen=True)
class TickInput:
    """What a tick is given: its elements, `now`, and the watermark after it; None where that does not change."""

    elements: tuple[TranscriptElement, ...]
    now: int | None = None
    watermark: int | None = None


@dataclass(frozen=True)
class Run:
    """A stage and its ticks, in order."""

    stage: Stage
    ticks: tuple[TickInput, ...]

    @property
    def elements(self) -> tuple[TranscriptElement, ...]:
        return tuple(element for tick in self.ticks for element in tick.elements)


# ---------------------------------------------------------------- stages


@cache  # making a strategy costs more than drawing from it
def times(least: int = -8, most: int = 20) -> st.SearchStrategy[int]:
    """Instants on the grid of seconds, with a microsecond more or less now and then."""
    return st.builds(
        lambda second, jitter: second * SECOND + jitter,
        st.integers(least, most),
        st.sampled_from([0, 0, 0, 0, 1, -1]),
    )


@cache
def durations(least: int = 1, most: int = 12) -> st.SearchStrategy[int]:
    """Positive lengths of whole seconds."""
    return st.integers(least, most).map(lambda seconds: seconds * SECOND)


@cache
@st.composite
def windows(draw: st.DrawFn) -> WindowFunction:
    """Fixed, sliding with overlap or gaps, days and longer of a calendar, or the global window."""
    kind = draw(st.sampled_from(["fixed", "fixed", "fixed", "overlap", "gaps", "calendar", "global"]))
    if kind == "calendar":
        zone = draw(st.sampled_from(["UTC", "Europe/London", "America/New_York"]))
        return CalendarWindows(draw(st.sampled_from(Unit)), draw(st.integers(1, 2)), zone)
    if kind == "global":
        return GlobalWindow()
    size = draw(st.sampled_from([3, 10, 10, 30])) * SECOND
    if kind == "fixed":
        return FixedWindows(size, draw(st.integers(0, size // SECOND - 1)) * SECOND)
    period = size + 2 * SECOND if kind == "gaps" else draw(st.sampled_from([size // 2, size // 3 + 1]))
    return SlidingWindows(size, period, draw(st.sampled_from([0, 1, period - 1])))


@cache
def leaves() -> st.SearchStrategy[Trigger]:
    """One of the triggers that have no triggers below them."""
    domains = st.sampled_from(Domain)
    periods = st.one_of(durations(), durations(), st.sampled_from([MINUTE, DAY]))
    zones = st.sampled_from(["UTC", "Europe/Berlin", "America/New_York"])
    return st.one_of(
        st.integers(1, 3).map(AfterCount),
        st.integers(1, 3).map(AfterCount),
        st.just(AtWatermark()),
        st.builds(AfterDelay, durations(), domains),
        st.builds(AtPeriod, periods, times(-5, 5), zones, domains),
        st.just(AtClose()),
        st.just(Never()),
    )


@cache
def triggers(depth: int = 3) -> st.SearchStrategy[Trigger]:
    """Trees of at most that depth; a leaf has depth 1. Also such as can close their window too soon."""
    if depth <= 1:
        return leaves()
    below = triggers(depth - 1)
    several = st.lists(below, min_size=1, max_size=3)
    return st.one_of(
        below.map(Repeat),
        below.map(Repeat),
        leaves(),
        several.map(lambda nodes: FirstOf(*nodes)),
        several.map(lambda nodes: AllOf(*nodes)),
        several.map(lambda nodes: SequenceOf(*nodes)),
        st.builds(RepeatUntil, below, below),
        st.builds(RepeatCount, below, st.integers(1, 3)),
        st.builds(AfterWatermark, st.none() | below, st.none() | below),
    )


_CHOSEN_AGGREGATES = st.lists(st.sampled_from(AGGREGATES), min_size=1, max_size=4, unique_by=lambda item: item[0])


@st.composite
def _having(draw: st.DrawFn, chosen: Sequence[tuple[str, Any]]) -> str | None:
    """Now and then a condition over one of the aggregates, which a pane may pass and a later one not."""
    conditions = [f"{name} is not null" for name, _ in chosen]
    conditions += [f"{name} % 2 = 1" for name, aggregate in chosen if aggregate.NAME in ("count", "count_if")]
    return draw(st.none() | st.none() | st.sampled_from(conditions))


@st.composite
def stages(
    draw: st.DrawFn,
    accumulations: Sequence[Accumulation] = tuple(Accumulation),
    may_close: bool = True,
    depth: int = 3,
) -> Stage:
    """Stages that the spec accepts. Without `may_close` none has a trigger that can close its window too soon."""
    window, trigger = draw(windows()), draw(triggers(depth))
    lateness = draw(st.sampled_from(LATENESSES))
    closes = can_close(trigger, lateness)
    if closes and not may_close:
        trigger, closes = Repeat(trigger), False
    if window.IS_GLOBAL and trigger == DEFAULT_TRIGGER:
        trigger = Repeat(FirstOf(AtWatermark(), AfterCount(2)))
    accumulation = draw(st.sampled_from(list(accumulations)))
    chosen = draw(_CHOSEN_AGGREGATES)
    return Stage(
        keys=draw(st.sampled_from([["k"], []])),
        window=window,
        trigger=trigger,
        accumulation=accumulation,
        allowed_lateness=lateness,
        on_time=draw(st.sampled_from(Emission)),
        closing=draw(st.sampled_from(Emission)),
        only_if_changed=accumulation is not Accumulation.DISCARDING and draw(st.booleans()),
        allow_closing=closes or (may_close and draw(st.booleans())),
        explode={} if closes else draw(st.sampled_from([{}, {}, {}, {"item": "many"}])),
        where=draw(st.sampled_from([None, None, None, "v > -2"])),
        aggregates=Named(chosen),
        having=None if accumulation is Accumulation.DISCARDING else draw(_having(chosen)),
    )


# ---------------------------------------------------------------- elements


_COLUMNS = st.fixed_dictionaries(
    {
        "k": st.sampled_from(["a", "a", "b", None]),
        "v": st.sampled_from([None, -3, 0, 1, 2, 2**62]),
        "d": st.sampled_from([None, Decimal("-0.01"), Decimal("0.10"), Decimal("9999.99")]),
        "x": st.sampled_from([None, -0.0, 0.5, 1e16, -1e16]),
        "s": st.sampled_from([None, "", "p", "q"]),
        "many": st.sampled_from([None, [], [1], [2, 3], [4, None, 4]]),
    }
)


@cache
def elements(partitions: tuple[str | None, ...] = (None,)) -> st.SearchStrategy[TranscriptElement]:
    """Elements with nulls for the key and for values now and then."""
    return st.builds(TranscriptElement, times(), st.sampled_from(partitions), _COLUMNS.map(Named))


@cache
def _bundles(most: int = 5, partitions: tuple[str | None, ...] = (None,)) -> st.SearchStrategy[Any]:
    several = st.lists(elements(partitions), min_size=2, max_size=most)
    return st.one_of(st.lists(elements(partitions), max_size=1), several, several).map(tuple)


@st.composite
def ticks(draw: st.DrawFn, most: int = 8, drained: bool = False) -> tuple[TickInput, ...]:
    """Ticks with any elements: `now` and the watermark never go back, and the watermark may be ahead of elements."""
    count = draw(st.integers(2, most))
    nows = sorted(draw(st.lists(times(0, 40), min_size=count, max_size=count)))
    marks = sorted(draw(st.lists(times(-10, 40), min_size=count, max_size=count)))
    unknown = draw(st.integers(0, 2))
    steps = [
        TickInput(draw(_bundles()), now, mark if index >= unknown else None)
        for index, (now, mark) in enumerate(zip(nows, marks, strict=True))
    ]
    return (*steps, TickInput((), None, INFINITY)) if drained else tuple(steps)


@st.composite
def honest_ticks(draw: st.DrawFn, most: int = 6) -> tuple[TickInput, ...]:
    """Ticks whose watermark is never ahead of an element that is still to come, drained in the end."""
    parts = draw(st.lists(_bundles(), min_size=1, max_size=most))
    return tuple(draw(_with_honest_clock(parts)))


@st.composite
def rebundled(draw: st.DrawFn, all_elements: Sequence[TranscriptElement]) -> tuple[TickInput, ...]:
    """The same elements in another order and other bundles, with an honest watermark, drained in the end."""
    order = list(draw(st.permutations(all_elements)))
    cuts = sorted(draw(st.lists(st.integers(0, len(order)), max_size=5)))
    bounds = [0, *cuts, len(order)]
    parts = [order[start:end] for start, end in pairwise(bounds)]
    return tuple(draw(_with_honest_clock(parts)))


@st.composite
def _with_honest_clock(draw: st.DrawFn, parts: Sequence[Sequence[TranscriptElement]]) -> list[TickInput]:
    nows = sorted(draw(st.lists(times(0, 40), min_size=len(parts), max_size=len(parts))))
    steps, before = [], None
    for index, (part, now) in enumerate(zip(parts, nows, strict=True)):
        ahead = [element.at for later in parts[index + 1 :] for element in later if element.at is not None]
        mark = min(draw(times(-10, 40)), *ahead) if ahead else draw(times(-10, 40))
        mark = mark if before is None else max(mark, before)
        before = mark if draw(st.booleans()) else before
        steps.append(TickInput(tuple(part), now, before))
    return [*steps, TickInput((), None, INFINITY)]


@st.composite
def runs(
    draw: st.DrawFn,
    accumulations: Sequence[Accumulation] = tuple(Accumulation),
    may_close: bool = True,
    honest: bool = False,
    drained: bool = False,
) -> Run:
    """A stage with ticks for it. `honest`: nothing is late, and the run is drained. `drained`: that it always is."""
    stage = draw(stages(accumulations, may_close))
    return Run(stage, draw(honest_ticks() if honest else ticks(drained=drained or draw(st.booleans()))))


# ---------------------------------------------------------------- watermarks


@st.composite
def watermarks(draw: st.DrawFn) -> Watermark:
    """Rules for the watermark of a source, with and without `idle_timeout` and `max_future`."""
    kind = draw(st.sampled_from(["bounded_delay", "fixed_lag", "processing_time"]))
    length = True if kind == "processing_time" else draw(durations(0, 10))
    return Watermark(
        **{kind: length},
        idle_timeout=draw(st.none() | durations(1, 20)),
        max_future=draw(st.none() | durations(0, 20)),
    )


@st.composite
def source_ticks(draw: st.DrawFn, most: int = 6) -> tuple[TickInput, ...]:
    """Ticks whose elements come from a few partitions and whose watermark is left to be made."""
    count = draw(st.integers(2, most))
    nows = sorted(draw(st.lists(times(0, 40), min_size=count, max_size=count)))
    return tuple(TickInput(draw(_bundles(3, (None, "p0", "p1"))), now) for now in nows)
