"""Hypothesis strategies for laws: random stages, elements and runs of ticks, small enough that things meet.

All times are on a grid of seconds around the epoch, with a microsecond more or less now and then, so that they hit
boundaries. `SCHEMA` is the same for all elements, so that an engine can use one frame for them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cache
from itertools import pairwise
from typing import Any

from hypothesis import strategies as st

from tests.extensions.triggers import AfterSpread, WhenQuiet
from tests.extensions.windows import Around, Grids, Shifts, Visits
from windrow.spec.aggregates import (
    Aggregate,
    AllTrue,
    AnyTrue,
    ApproxCountDistinct,
    ApproxTop,
    Collect,
    CollectSet,
    Count,
    CountDistinct,
    CountIf,
    First,
    Histogram,
    Last,
    Max,
    Mean,
    Min,
    Quantiles,
    Stddev,
    Sum,
    Top,
    Variance,
)
from windrow.spec.fields.reading import Named
from windrow.spec.fields.schemas import Schema
from windrow.spec.sources.watermarks import Watermark
from windrow.spec.stages.stage import Accumulation, Emission, PaneTime, Stage
from windrow.spec.times import DAY, INFINITY, MINUTE, SECOND
from windrow.spec.transcripts.cases import TranscriptElement
from windrow.spec.triggers.all import (
    DEFAULT_TRIGGER,
    AfterBytes,
    AfterCount,
    AfterDelay,
    AfterMatch,
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
    Then,
    Trigger,
    WhenResult,
    nodes_of,
)
from windrow.spec.triggers.closing import can_close
from windrow.spec.windows.aligned import (
    CalendarWindows,
    CumulativeWindows,
    FixedWindows,
    GlobalWindow,
    Phase,
    SlidingWindows,
    Unit,
)
from windrow.spec.windows.base import WindowFunction
from windrow.spec.windows.records import RecordWindows
from windrow.spec.windows.sessions import Sessions

SCHEMA = Schema(
    {
        "k": "string",
        "v": "bigint",
        "d": "decimal(6, 2)",
        "x": "double",
        "s": "string",
        "many": "array<bigint>",
        "w": "int",
    }
)
"""The columns of every element; `w` is its weight, 1 but for what a weighted run takes back."""

KEEPING = (Accumulation.ACCUMULATING, Accumulation.RETRACTING)
CLEARING = (Accumulation.DISCARDING, Accumulation.CLEAR_BY_DEFAULT)
PATIENCE = INFINITY - 1
"""A lateness that ends only when all is over."""
LATENESSES = (0, 1, 10 * SECOND, 30 * SECOND, 30 * SECOND, PATIENCE)
AGGREGATES: tuple[tuple[str, Aggregate], ...] = (
    ("num", Count()), ("given", Count("v")), ("positive", CountIf("v > 0")), ("total", Sum("v")), ("money", Sum("d")),
    ("mass", Sum("x")), ("middle", Mean("v")), ("price", Mean("d")), ("least", Min("v")), ("most", Max("s")),
    ("opening", First("v")), ("closing_value", Last("s")), ("kinds", CountDistinct("s")), ("all_values", Collect("v")),
    ("odd", Sum("if(v % 2 = 0, null, v)")), ("some", AnyTrue("v > 1")), ("every", AllTrue("v > 0")),
    ("spread", Variance("v")), ("price_spread", Stddev("d")), ("spread_of_mass", Variance("x")),
    ("different", CollectSet("x")), ("largest", Top("v", 2)), ("words", Top("s", 3)),
    ("buckets", Histogram("v", (0, 1, 2))), ("prices", Histogram("d", (0, "0.10"))), ("masses", Histogram("x", (0, 1))),
    ("about", ApproxCountDistinct("s")), ("ranks", Quantiles("v", (0, 0.5, 1))), ("frequent", ApproxTop("v", 2)),
    ("price_ranks", Quantiles("d", (0.3,))), ("frequent_words", ApproxTop("s", 1)), ("mass_ranks", Quantiles("x", [1])),
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


_KINDS_OF_WINDOWS = ("fixed", "fixed", "fixed", "by_key", "overlap", "gaps", "cumulative", "own", "calendar", "global")
_OWN_WINDOWS = (
    Grids(3 * SECOND, 10 * SECOND), Grids(10 * SECOND, 10 * SECOND),
    Around(before="v", after="if(s = 'p', 5000000, 1000000)", most=10 * SECOND),
)  # fmt: skip


_GAPS = ("v", "12 div v", "d", "if(s = 'p', interval 8 second, if(s = 'q', null, interval 3 second))")
"""Gaps from the element: null, not positive, too large and failing now and then."""


@cache
@st.composite
def sessions(draw: st.DrawFn, touching: bool = True) -> Sessions:
    """Sessions with a fixed gap or one from the element. Without `touching` none merges windows that only touch.

    That is the option under which an element exactly at the end of a complete session may be late.
    """
    merge_touching = touching and draw(st.booleans())
    if draw(st.integers(0, 2)):
        return Sessions(draw(durations(1, 6)), merge_touching=merge_touching)
    return Sessions(draw(st.sampled_from(_GAPS)), max_gap=draw(durations(2, 10)), merge_touching=merge_touching)


@cache
@st.composite
def record_windows(draw: st.DrawFn) -> RecordWindows:
    """Record windows of none to a few seconds, on grids as fine as a microsecond and as coarse as seconds."""
    resolution = draw(st.sampled_from([1, SECOND, 3 * SECOND]))
    return RecordWindows(draw(st.integers(0, 4)) * max(resolution, SECOND), resolution)


@cache
def own_merging() -> st.SearchStrategy[WindowFunction]:
    """Windows of a user's own that merge: those that overlap, and as a function says."""
    return st.one_of(durations(2, 8).map(Shifts), durations(0, 6).map(lambda apart: Visits(apart + 1)))


@cache
def windows(touching: bool = True, records: bool = False) -> st.SearchStrategy[WindowFunction]:
    """All kinds: such as stand for themselves, sessions, and with `records` those that are made by records."""
    several: list[st.SearchStrategy[WindowFunction]] = [lone_windows(), lone_windows(), sessions(touching)]
    return st.one_of(*several, record_windows()) if records else st.one_of(*several)


@cache
@st.composite
def lone_windows(draw: st.DrawFn) -> WindowFunction:
    """Fixed, by key too, sliding with overlap or gaps, cumulative, days and longer of a calendar, or the global one."""
    kind = draw(st.sampled_from(_KINDS_OF_WINDOWS))
    if kind == "calendar":
        zone = draw(st.sampled_from(["UTC", "Europe/London", "America/New_York"]))
        return CalendarWindows(draw(st.sampled_from(Unit)), draw(st.integers(1, 2)), zone)
    if kind == "own":
        return draw(st.sampled_from(_OWN_WINDOWS))
    if kind == "global":
        return GlobalWindow()
    size = draw(st.sampled_from([3, 10, 10, 30])) * SECOND
    if kind == "cumulative":
        step = size // draw(st.sampled_from([1, 2, 3]))
        whole = size // step * step
        return CumulativeWindows(whole, step, draw(st.sampled_from([0, 1, whole - step, whole - 1])))
    if kind in ("fixed", "by_key"):
        phase = Phase.BY_KEY if kind == "by_key" else None
        return FixedWindows(size, draw(st.integers(0, size // SECOND - 1)) * SECOND, phase)
    period = size + 2 * SECOND if kind == "gaps" else draw(st.sampled_from([size // 2, size // 3 + 1]))
    return SlidingWindows(size, period, draw(st.sampled_from([0, 1, period - 1])))


@cache
def leaves() -> st.SearchStrategy[Trigger]:
    """One of the triggers that have no triggers below them."""
    domains = st.sampled_from(Domain)
    matches = st.sampled_from(["s = 'p'", "v > 0", "v is null", "6 / v > 2"])
    results = st.sampled_from(["num % 2 = 1", "total > 0", "6 / (num - 2) > 1", "num >= 3 and total is null"])
    periods = st.one_of(durations(), durations(), st.sampled_from([MINUTE, DAY]))
    zones = st.sampled_from(["UTC", "Europe/Berlin", "America/New_York"])
    return st.one_of(
        st.integers(1, 3).map(AfterCount),
        st.integers(1, 3).map(AfterCount),
        st.sampled_from([100, 100, 90, 50, 1]).map(AtWatermark),
        st.builds(AfterMatch, matches, st.integers(1, 2)),
        st.sampled_from([1, 20, 60, 150]).map(AfterBytes),
        results.map(WhenResult),
        st.sampled_from([1, 3, 2**62]).map(AfterSpread),
        durations(1, 8).map(WhenQuiet),
        st.builds(AfterDelay, durations(), domains),
        st.builds(AtPeriod, periods, times(-5, 5), zones, domains),
        st.just(AtClose()),
        st.just(Never()),
    )


@cache
def triggers(depth: int = 3) -> st.SearchStrategy[Trigger]:
    """Trees of at most that depth; a leaf has depth 1. Also such as can close their window too soon."""
    return st.builds(_with_then, _trees(depth), st.sampled_from([None, None, None, *Then]))


def _with_then(trigger: Trigger, then: Then | None) -> Trigger:
    return trigger if then is None else replace(trigger, then=then)


def _trees(depth: int) -> st.SearchStrategy[Trigger]:
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


FLOATING = ("mass", "spread_of_mass")
"""Aggregates whose last bits depend on the grouping."""
_UNDOABLE = [(name, a) for name, a in AGGREGATES if a.CAN_BE_UNDONE and name not in FLOATING]
_KEYS_TO_SHIFT_BY = [["k"], ["k", "v"], ["x"], ["d", "s"]]


def _is_by_key(window: WindowFunction) -> bool:
    return isinstance(window, FixedWindows) and window.phase is Phase.BY_KEY


@cache
def _chosen(can_be_undone: bool) -> st.SearchStrategy[list[tuple[str, Aggregate]]]:
    offered = _UNDOABLE if can_be_undone else AGGREGATES
    return st.lists(st.sampled_from(offered), min_size=1, max_size=4, unique_by=lambda item: item[0])


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
    takes_back: bool = False,
    over: st.SearchStrategy[WindowFunction] | None = None,
) -> Stage:
    """Stages that the spec accepts. Without `may_close` none has a trigger that can close its window too soon.

    `takes_back`: such as may stand over a weighted source, so with windows that stand for themselves. `over`: their
    windows, all kinds but record windows if it is left out.
    """
    if over is None:
        over = lone_windows() if takes_back else windows()
    window = draw(over)
    trigger = draw(triggers(depth))
    lateness = draw(st.sampled_from(LATENESSES))
    closes = can_close(trigger, lateness)
    if closes and not may_close:
        trigger, closes = Repeat(trigger), False
    if window.IS_GLOBAL and replace(trigger, then=None) == DEFAULT_TRIGGER:
        trigger = Repeat(FirstOf(AtWatermark(), AfterCount(2)))
    accumulation = draw(st.sampled_from(list(accumulations)))
    needed = {column for node in nodes_of(trigger) for e in node.conditions for column in e.columns}
    chosen = draw(_chosen(takes_back))
    chosen += [item for item in AGGREGATES if item[0] in needed and item not in chosen]
    return Stage(
        keys=draw(st.sampled_from(_KEYS_TO_SHIFT_BY if _is_by_key(window) else [["k"], []])),
        window=window,
        trigger=trigger,
        accumulation=accumulation,
        allowed_lateness=lateness,
        on_time=draw(st.sampled_from(Emission)),
        closing=draw(st.sampled_from(Emission)),
        only_if_changed=accumulation not in CLEARING and draw(st.booleans()),
        event_time=draw(st.sampled_from([PaneTime.END_OF_WINDOW, *PaneTime])),
        retract=accumulation is Accumulation.ACCUMULATE_BY_DEFAULT and draw(st.booleans()),
        allow_closing=closes or (may_close and draw(st.booleans())),
        explode={} if closes else draw(st.sampled_from([{}, {}, {}, {"item": "many"}])),
        where=draw(st.sampled_from([None, None, None, "v > -2"])),
        aggregates=Named(chosen),
        having=draw(_having(chosen)) if accumulation in KEEPING else None,
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
        "w": st.just(1),
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
    nothing_late: bool = False,
    over: st.SearchStrategy[WindowFunction] | None = None,
) -> Run:
    """A stage with ticks for it. `drained`: the watermark is at +infinity in the end.

    `honest`: the watermark is never ahead of what is to come, and the run is drained. `nothing_late`: it may be ahead,
    but windows wait for all that comes.
    """
    over = windows(touching=not honest) if over is None else over
    stage = draw(stages(accumulations, may_close, over=over))
    stage = _patient(stage) if nothing_late else stage
    return Run(stage, draw(honest_ticks() if honest else ticks(drained=drained or draw(st.booleans()))))


def _patient(stage: Stage) -> Stage:
    """The stage with windows that stay open for all that comes."""
    trigger = Repeat(stage.trigger) if can_close(stage.trigger, PATIENCE) else stage.trigger
    return replace(stage, allowed_lateness=PATIENCE, trigger=trigger)


WEIGHT = "w"


@st.composite
def weighted_runs(draw: st.DrawFn, drained: bool = False, nothing_late: bool = False) -> Run:
    """A stage over a weighted source: now and then a tick takes back what it or an earlier one has added."""
    accumulations = (Accumulation.ACCUMULATING, Accumulation.RETRACTING)
    stage = draw(stages(accumulations, may_close=not nothing_late, takes_back=True))
    stage = _patient(stage) if nothing_late else stage
    there: list[TranscriptElement] = []
    steps = []
    for step in draw(ticks(drained=drained or draw(st.booleans()))):
        there += step.elements
        places = draw(st.lists(st.integers(0, len(there) - 1), max_size=4, unique=True)) if there else []
        gone = tuple(taken_back(there[place]) for place in places)
        there = [element for place, element in enumerate(there) if place not in places]
        steps.append(replace(step, elements=(*step.elements, *gone)))
    return Run(stage, tuple(steps))


def taken_back(element: TranscriptElement) -> TranscriptElement:
    """The element of weight -1 that takes this one back."""
    return replace(element, columns=Named({**element.columns, WEIGHT: -1}))


# ---------------------------------------------------------------- watermarks


PUNCTUATIONS = ("if(s = 'p', 9000000, null)", "v * 5000000", "if(v > 1, v, 12000000 div v)")
"""Now and then, always with null and with overflow, and beyond the calendar or by a division that fails."""


@st.composite
def watermarks(draw: st.DrawFn) -> Watermark:
    """Rules for the watermark of a source, with and without `idle_timeout` and `max_future`."""
    kind = draw(st.sampled_from(["bounded_delay", "fixed_lag", "punctuated", "processing_time"]))
    rules = {"processing_time": st.just(True), "punctuated": st.sampled_from(PUNCTUATIONS)}
    return Watermark(
        **{kind: draw(rules.get(kind, durations(0, 10)))},
        idle_timeout=draw(st.none() | durations(1, 20)),
        max_future=draw(st.none() | durations(0, 20)),
    )


@st.composite
def source_ticks(draw: st.DrawFn, most: int = 6) -> tuple[TickInput, ...]:
    """Ticks whose elements come from a few partitions and whose watermark is left to be made."""
    count = draw(st.integers(2, most))
    nows = sorted(draw(st.lists(times(0, 40), min_size=count, max_size=count)))
    return tuple(TickInput(draw(_bundles(3, (None, "p0", "p1"))), now) for now in nows)
