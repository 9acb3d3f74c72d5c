"""Laws of chains, co-groups and joins on the model, beside a plain computation over the raw elements."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from hypothesis import assume, given
from hypothesis import strategies as st

from tests.laws.raw import COLUMNS, TRIGGERS, Bundles, Raw, bundles, group_of, raws, rising
from tests.laws.strategies import SCHEMA, Run, TickInput, runs, source_ticks, stages, watermarks
from tests.model.assign import Window, windows_of
from tests.model.chain import Chain
from tests.model.input_clocks import MadeClock
from tests.model.panes import Pane
from tests.model.stream import Stream
from tests.model.table import current
from tests.model.tick import Tick
from windrow.spec.aggregates import Collect, Count, First, Last, Max, Min, Sum
from windrow.spec.sources.watermarks import Watermark
from windrow.spec.stages.graph import check_graph
from windrow.spec.stages.inputs import Input, JoinKind
from windrow.spec.stages.stage import Accumulation, Stage
from windrow.spec.times import INFINITY, MINUS_INFINITY, SECOND
from windrow.spec.triggers.all import (
    Trigger,
)
from windrow.spec.windows.aligned import CumulativeWindows, FixedWindows, SlidingWindows
from windrow.spec.windows.base import WindowFunction
from windrow.spec.windows.inherited import InheritedWindows
from windrow.spec.windows.sessions import Sessions

GAP = 4 * SECOND
LONGEST_SESSION = 60 * SECOND
"""More than there is between the first element of a run and the last."""

WINDOWS: tuple[WindowFunction, ...] = (
    FixedWindows(10 * SECOND), FixedWindows(7 * SECOND, 3 * SECOND), SlidingWindows(10 * SECOND, 5 * SECOND),
    CumulativeWindows(12 * SECOND, 4 * SECOND), SlidingWindows(4 * SECOND, 6 * SECOND),
)  # fmt: skip
SESSIONS = Sessions(GAP, max_session=LONGEST_SESSION)


# ---------------------------------------------------------------- runs


def played(chain: Chain, ticks: Bundles) -> list[Mapping[str, Tick]]:
    return [
        chain.tick([one.element() for one in taken], now=SECOND * number, watermark=watermark)
        for number, (taken, watermark) in enumerate(ticks)
    ]


def net(panes: Iterable[Pane]) -> Counter[Any]:
    """What the weights leave: how often each key, window and result."""
    left: Counter[Any] = Counter()
    for pane in panes:
        left[repr((dict(pane.keys), pane.window, {n: _sorted(v) for n, v in pane.aggregates.items()}))] += pane.weight
    return Counter({shown: number for shown, number in left.items() if number})


def _sorted(value: Any) -> Any:
    return sorted(value, key=repr) if isinstance(value, list | tuple) else value


def of(ticks: Sequence[Mapping[str, Tick]], name: str) -> list[Pane]:
    return [pane for tick in ticks for pane in tick[name].panes]


def expected_rows(rows: Iterable[tuple[dict[str, Any], Window, dict[str, Any]]]) -> Counter[Any]:
    return Counter(repr((keys, window, {n: _sorted(v) for n, v in results.items()})) for keys, window, results in rows)


# ---------------------------------------------------------------- the plain computation


Grouped = dict[tuple[Any, Window], list[Any]]


def grouped(items: Iterable[Any], key: Callable[[Any], Any], windows: Callable[[Any], Iterable[Window]]) -> Grouped:
    groups: Grouped = defaultdict(list)
    for item in items:
        for window in windows(item):
            groups[key(item), window].append(item)
    return groups


def by_key(elements: Sequence[Raw], function: WindowFunction) -> Grouped:
    """The raw elements by `k` and window, also where the windows are sessions."""
    if isinstance(function, Sessions):
        return {place: found for k in "abc" for place, found in _sessions([e for e in elements if e.k == k])}
    return grouped(elements, lambda one: one.k, lambda one: windows_of(function, one.at))


def _sessions(elements: Sequence[Raw]) -> list[tuple[tuple[str, Window], list[Raw]]]:
    found: list[list[Raw]] = []
    for one in sorted(elements, key=lambda one: one.at):
        if found and one.at < found[-1][-1].at + GAP:
            found[-1].append(one)
        else:
            found.append([one])
    return [((group[0].k, Window(group[0].at, group[-1].at + GAP)), group) for group in found]


@dataclass(frozen=True)
class Sums:
    """A row of the first stage."""

    k: str
    window: Window
    n: int
    most: int
    team: str


def first_rows(elements: Sequence[Raw], function: WindowFunction) -> list[Sums]:
    return [
        Sums(k, window, sum(e.v for e in found), max(e.v for e in found), max((e.at, e.g) for e in found)[1])
        for (k, window), found in by_key(elements, function).items()
    ]


def windows_behind(function: WindowFunction) -> Callable[[Any], Iterable[Window]]:
    """The windows of a row in the stage behind: its own, or those of the last instant of its own."""
    if isinstance(function, InheritedWindows):
        return lambda row: [row.window]
    return lambda row: windows_of(function, row.window.end - 1)


# ---------------------------------------------------------------- chains


@dataclass(frozen=True)
class ChainRun:
    stages: tuple[Stage, ...]
    ticks: Bundles


BEHIND: tuple[WindowFunction, ...] = (InheritedWindows(), InheritedWindows(), FixedWindows(20 * SECOND), WINDOWS[2])


@st.composite
def chain_runs(draw: st.DrawFn, over: Sequence[WindowFunction] = (*WINDOWS, SESSIONS)) -> ChainRun:
    """Sums by `k`, then by the team of each, then how many teams have which total; all retracting."""
    lateness = draw(st.sampled_from([0, 5 * SECOND, 30 * SECOND]))
    window = draw(st.sampled_from(over))
    shared: dict[str, Any] = {"accumulation": Accumulation.RETRACTING}
    triggers = [draw(st.sampled_from(TRIGGERS)) for _ in range(3)]
    behind = lateness + (LONGEST_SESSION if isinstance(window, Sessions) else 0)
    first = Stage(
        name="first", keys=["k"], window=window, trigger=triggers[0], allowed_lateness=lateness,
        only_if_changed=draw(st.booleans()), aggregates={"n": Sum("v"), "most": Max("v"), "team": Last("g")}, **shared,
    )  # fmt: skip
    second = Stage(
        name="second", keys=["team"], window=draw(st.sampled_from(BEHIND)), trigger=triggers[1],
        allowed_lateness=behind, only_if_changed=draw(st.booleans()), aggregates={
            "total": Sum("n"), "players": Count(), "most": Max("most"), "least": Min("n"), "sums": Collect("n")
        }, **shared,
    )  # fmt: skip
    third = Stage(
        name="third", keys=["total"], window=draw(st.sampled_from(BEHIND)), trigger=triggers[2],
        allowed_lateness=behind, aggregates={"teams": Count(), "opening": First("team"), "most": Max("most")}, **shared,
    )  # fmt: skip
    return ChainRun((first, second, third), draw(bundles(lateness)))


def second_rows(rows: Sequence[Sums], function: WindowFunction) -> Grouped:
    return grouped(rows, lambda row: row.team, windows_behind(function))


def second_results(found: Sequence[Sums]) -> dict[str, Any]:
    sums = [row.n for row in found]
    most = max(row.most for row in found)
    return {"total": sum(sums), "players": len(found), "most": most, "least": min(sums), "sums": sums}


@given(chain_runs())
def test_a_chain_of_two_is_the_plain_computation(run: ChainRun) -> None:
    check_graph(run.stages)
    ticks = played(Chain(run.stages[:2], COLUMNS), run.ticks)
    rows = first_rows(raws(run.ticks), run.stages[0].window)
    groups = second_rows(rows, run.stages[1].window).items()
    expected = expected_rows(({"team": team}, window, second_results(found)) for (team, window), found in groups)
    assert net(of(ticks, "second")) == expected


@dataclass(frozen=True)
class TeamRow:
    team: str
    window: Window
    total: int
    most: int


@given(chain_runs())
def test_a_chain_of_three_is_the_plain_computation(run: ChainRun) -> None:
    ticks = played(Chain(run.stages, COLUMNS), run.ticks)
    rows = first_rows(raws(run.ticks), run.stages[0].window)
    teams = [
        TeamRow(team, window, sum(row.n for row in found), max(row.most for row in found))
        for (team, window), found in second_rows(rows, run.stages[1].window).items()
    ]
    groups = grouped(teams, lambda row: row.total, windows_behind(run.stages[2].window))
    expected = expected_rows(
        (
            {"total": total},
            window,
            {"teams": len(found), "opening": _opening(found), "most": max(r.most for r in found)},
        )
        for (total, window), found in groups.items()
    )
    assert net(of(ticks, "third")) == expected


def _opening(found: Sequence[TeamRow]) -> str:
    return min((row.window.end, row.team) for row in found)[1]


@given(chain_runs())
def test_nothing_is_late_behind_a_stage_in_which_nothing_is(run: ChainRun) -> None:
    for tick in played(Chain(run.stages, COLUMNS), run.ticks):
        assert not any(one.dead for one in tick.values())


@given(chain_runs())
def test_the_weights_of_any_prefix_leave_the_current_panes_of_every_stage(run: ChainRun) -> None:
    shown: dict[str, list[Pane]] = {stage.name: [] for stage in run.stages}
    for tick in played(Chain(run.stages, COLUMNS), run.ticks):
        for name, panes in shown.items():
            panes += tick[name].panes
            assert net(panes) == net(current(panes).values())
            assert min(net(panes).values(), default=1) == max(net(panes).values(), default=1) == 1


@given(chain_runs(), st.data())
def test_a_dishonest_watermark_never_makes_a_retraction_late(run: ChainRun, data: st.DataObject) -> None:
    """However much is late in the first stage: what has come out of it finds its place behind."""
    times = st.sampled_from([None, 0, 5, 12, 20, 33, 60]).map(lambda second: second and second * SECOND)
    ticks = rising([(taken, data.draw(times)) for taken, _ in run.ticks])
    for tick in played(Chain(run.stages, COLUMNS), [*ticks, ((), INFINITY)]):
        assert not tick["second"].dead and not tick["third"].dead


@given(chain_runs())
def test_watermarks_go_down_the_chain_and_never_back(run: ChainRun) -> None:
    before = {stage.name: MINUS_INFINITY for stage in run.stages}
    for tick in played(Chain(run.stages, COLUMNS), run.ticks):
        marks = {name: one.clock.watermark_after for name, one in tick.items()}
        assert marks["first"] >= marks["second"] >= marks["third"]
        assert all(marks[name] >= before[name] == tick[name].clock.watermark_before for name in marks)
        before = marks


@given(chain_runs())
def test_no_element_behind_is_older_than_the_watermark_was_where_nothing_is_late(run: ChainRun) -> None:
    """In-band: panes of an upstream with honest watermarks are ahead of the watermark of the stage behind."""
    assume(run.stages[0].allowed_lateness == 0 and not isinstance(run.stages[0].window, Sessions))
    for tick in played(Chain(run.stages, COLUMNS), run.ticks):
        for pane in tick["first"].panes:
            assert pane.event_time is not None and pane.event_time >= tick["second"].clock.watermark_before


@st.composite
def discarding_runs(draw: st.DrawFn) -> ChainRun:
    lateness = draw(st.sampled_from([0, 5 * SECOND]))
    shared: dict[str, Any] = {"allowed_lateness": lateness}
    parts = Stage(
        name="first", keys=["k"], window=draw(st.sampled_from(WINDOWS)), trigger=draw(st.sampled_from(TRIGGERS)),
        accumulation=Accumulation.DISCARDING, aggregates={"n": Sum("v"), "num": Count()}, **shared,
    )  # fmt: skip
    whole = Stage(
        name="second", keys=["k"], window=draw(st.sampled_from(BEHIND)), trigger=draw(st.sampled_from(TRIGGERS)),
        accumulation=Accumulation.RETRACTING, aggregates={"n": Sum("n"), "num": Sum("num")}, **shared,
    )  # fmt: skip
    return ChainRun((parts, whole), draw(bundles(lateness)))


@given(discarding_runs())
def test_panes_that_discard_add_up_behind(run: ChainRun) -> None:
    check_graph(run.stages)
    ticks = played(Chain(run.stages, COLUMNS), run.ticks)
    parts = [
        (k, window, one.v) for (k, window), found in by_key(raws(run.ticks), run.stages[0].window).items()
        for one in found
    ]  # fmt: skip
    behind = windows_behind(run.stages[1].window)
    groups = grouped(parts, lambda one: one[0], lambda one: behind(Sums("", one[1], 0, 0, "")))
    expected = expected_rows(
        ({"k": k}, window, {"n": sum(one[2] for one in found), "num": len(found)})
        for (k, window), found in groups.items()
    )
    assert net(of(ticks, "second")) == expected


# ---------------------------------------------------------------- one stage


@given(runs())
def test_a_chain_of_one_is_a_stream(run: Run) -> None:
    _check_like_a_stream(run.stage, run.ticks, None)


@given(stages(), watermarks(), source_ticks())
def test_a_chain_of_one_makes_its_watermark_like_a_stream(
    stage: Stage, rule: Watermark, ticks: tuple[TickInput, ...]
) -> None:
    _check_like_a_stream(stage, ticks, rule)


def _check_like_a_stream(stage: Stage, ticks: Sequence[TickInput], rule: Watermark | None) -> None:
    chain, stream = Chain([stage], SCHEMA, rule), Stream(stage, SCHEMA, rule)
    for step in ticks:
        one = chain.tick(step.elements, step.now, step.watermark)[stage.name]
        other = stream.tick(step.elements, step.now, step.watermark)
        assert (one.panes, one.dead, one.counts) == (other.panes, other.dead, other.counts)
        assert one.clock.watermark_after == other.clock.watermark_after


# ---------------------------------------------------------------- co-groups and joins


LEFT = Input(keys=["k"], columns=[{"a": "v"}])
RIGHT = Input(keys=["k"], columns=[{"b": "v"}, "g"])
SIDES = ("left", "right")


@st.composite
def shared_fields(draw: st.DrawFn, lateness: int = 0, over: Sequence[WindowFunction] = WINDOWS) -> dict[str, Any]:
    return {
        "name": "joined", "window": draw(st.sampled_from(over)), "trigger": draw(st.sampled_from(TRIGGERS)),
        "accumulation": Accumulation.RETRACTING, "allowed_lateness": lateness,
        "only_if_changed": draw(st.booleans()),
    }  # fmt: skip


def nested_loop(join: JoinKind, left: Sequence[Any], right: Sequence[Any]) -> list[tuple[Any, Any]]:
    """The pairs; of a side that is kept, every row for which the other has none."""
    found = [(one, other) for one in left for other in right]
    if join in ("left", "full"):
        found += [(one, None) for one in left if not right]
    if join in ("right", "full"):
        found += [(None, other) for other in right if not left]
    return found


def join_rows(
    join: JoinKind, groups: Grouped, left: Callable[[Any], bool], right: Callable[[Any], bool]
) -> Counter[Any]:
    rows = []
    for (k, window), found in groups.items():
        for a, b in nested_loop(join, [e for e in found if left(e)], [e for e in found if right(e)]):
            rows.append(({"k": k}, window, {"a": a and a.v, "b": b and b.v, "g": b and b.g}))
    return expected_rows(rows)


def without_number(panes: Iterable[Pane]) -> list[Pane]:
    """The rows of a join without their numbers in the pane."""
    return [
        replace(pane, aggregates={name: value for name, value in pane.aggregates.items() if name != "row"})
        for pane in panes
    ]


@given(st.sampled_from(JoinKind), shared_fields(5 * SECOND, (*WINDOWS, SESSIONS)), bundles(5 * SECOND, SIDES))
def test_a_join_is_a_nested_loop_per_window(join: JoinKind, shared: dict[str, Any], ticks: Bundles) -> None:
    group = group_of({"left": LEFT, "right": RIGHT}, join, **shared)
    panes = without_number(of(played(Chain([group], COLUMNS), ticks), "joined"))
    groups = by_key(raws(ticks), shared["window"])
    expected = join_rows(join, groups, lambda one: one.input == "left", lambda one: one.input == "right")
    assert net(panes) == expected


@given(st.sampled_from(JoinKind), shared_fields(), bundles(0, SIDES))
def test_the_weights_of_any_prefix_leave_rows_that_stand(
    join: JoinKind, shared: dict[str, Any], ticks: Bundles
) -> None:
    """No row is retracted that does not stand, and the rows of a pane that stand have its index and numbers from 0."""
    chain = Chain([group_of({"left": LEFT, "right": RIGHT}, join, **shared)], COLUMNS)
    standing: Counter[Any] = Counter()
    for tick in played(chain, ticks):
        for row in tick["joined"].panes:
            standing[row.key, row.window, row.index, row.aggregates["row"], repr(row.aggregates)] += row.weight
        assert set(standing.values()) <= {0, 1}
        numbers, indexes = defaultdict(list), defaultdict(set)
        for key, window, index, number, _ in +standing:
            numbers[key, window].append(number)
            indexes[key, window].add(index)
        assert all(sorted(found) == list(range(len(found))) for found in numbers.values())
        assert all(len(found) == 1 for found in indexes.values())


@given(st.sampled_from(JoinKind), chain_runs(WINDOWS), st.sampled_from(TRIGGERS))
def test_a_join_of_two_retracting_stages_is_a_nested_loop(join: JoinKind, run: ChainRun, trigger: Trigger) -> None:
    """Sums by `k`, joined with the sums of the same windows that are positive: both sides retract."""
    first = run.stages[0]
    positive = Stage(
        name="positive", from_="first", where="n > 0", keys=["k"], window=InheritedWindows(), trigger=trigger,
        accumulation=Accumulation.RETRACTING, allowed_lateness=first.allowed_lateness, aggregates={"p": Sum("n")},
    )  # fmt: skip
    inputs = {
        "left": Input(from_="first", keys=["k"], columns=["n"]),
        "right": Input(from_="positive", keys=["k"], columns=["p"]),
    }
    group = group_of(
        inputs, join, name="joined", window=InheritedWindows(), trigger=run.stages[2].trigger,
        accumulation=Accumulation.RETRACTING, allowed_lateness=first.allowed_lateness,
    )  # fmt: skip
    panes = without_number(of(played(Chain([first, positive, group], COLUMNS), run.ticks), "joined"))
    rows = first_rows(raws(run.ticks), first.window)
    expected = expected_rows(
        ({"k": row.k}, row.window, {"n": row.n, "p": row.n if row.n > 0 else None})
        for row in rows
        if row.n > 0 or join.keeps_left
    )
    assert net(panes) == expected


THREE = {
    "one": Input(keys=["k"], aggregates={"total": Sum("v")}),
    "two": Input(keys=[{"k": "g"}], aggregates={"num": Count(), "most": Max("v")}),
    "three": Input(keys=["k"], where="v > 0", aggregates={"all": Collect("v")}),
}


@given(shared_fields(5 * SECOND), bundles(5 * SECOND, tuple(THREE)))
def test_a_cogroup_of_three_is_the_plain_computation(shared: dict[str, Any], ticks: Bundles) -> None:
    panes = of(played(Chain([group_of(THREE, **shared)], COLUMNS), ticks), "joined")
    counted = [one for one in raws(ticks) if one.input != "three" or one.v > 0]
    key: Callable[[Raw], str] = lambda one: one.g if one.input == "two" else one.k  # noqa: E731
    groups = grouped(counted, key, lambda one: windows_of(shared["window"], one.at))
    expected = expected_rows(({"k": k}, window, _of_three(found)) for (k, window), found in groups.items())
    assert net(panes) == expected


def _of_three(found: Sequence[Raw]) -> dict[str, Any]:
    of_input = {name: [one.v for one in found if one.input == name] for name in THREE}
    return {
        "total": sum(of_input["one"]) if of_input["one"] else None,
        "num": len(of_input["two"]),
        "most": max(of_input["two"], default=None),
        "all": of_input["three"],
    }


RULES = {"one": Watermark(bounded_delay=0), "two": Watermark(bounded_delay=3 * SECOND), "three": Watermark(fixed_lag=0)}


@given(shared_fields(), bundles(0, tuple(THREE)))
def test_the_watermark_of_several_inputs_is_the_minimum(shared: dict[str, Any], ticks: Bundles) -> None:
    chain = Chain([group_of(THREE, **shared)], COLUMNS, RULES)
    latest = dict.fromkeys(THREE, MINUS_INFINITY)
    for number, (taken, _) in enumerate(ticks):
        (tick,) = chain.tick([one.element() for one in taken], now=SECOND * number).values()
        for one in taken:
            latest[str(one.input)] = max(latest[str(one.input)], one.at)
        has_all = MINUS_INFINITY not in latest.values()
        made = min(latest["one"], latest["two"] - 3 * SECOND, SECOND * number) if has_all else MINUS_INFINITY
        assert tick.clock.watermark_after == made
        feeds = chain.stages["joined"].feeds.values()
        assert all(isinstance(feed.clock, MadeClock) and not feed.clock.is_idle for feed in feeds)


def test_behind_sessions_a_shorter_lateness_would_lose_a_retraction() -> None:
    """A session that was merged away late: with the lateness of the upstream alone the old window would stay shown."""
    for behind, dead in ((10 * SECOND, 1), (50 * SECOND, 0)):
        shared: dict[str, Any] = {"keys": ["k"], "accumulation": Accumulation.RETRACTING}
        window = Sessions(10 * SECOND, max_session=40 * SECOND)
        first = Stage(
            name="first", window=window, allowed_lateness=10 * SECOND, aggregates={"n": Count()}, **shared
        )  # fmt: skip
        second = Stage(
            name="second", window=InheritedWindows(), allowed_lateness=behind, aggregates={"n": Sum("n")}, **shared
        )  # fmt: skip
        times = [((0, 15), 10), ((7,), 24), ((), 25)]
        ticks = [([Raw(at * SECOND, "a", "x", 1) for at in arrived], mark * SECOND) for arrived, mark in times]
        assert sum(len(tick["second"].dead) for tick in played(Chain([first, second], COLUMNS), ticks)) == dead
