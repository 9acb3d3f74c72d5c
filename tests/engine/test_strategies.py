"""Which strategy the windows of a stage have, and what is kept of their cells; no Spark is needed to say it."""

from __future__ import annotations

import pytest

from tests.extensions.windows import OfficeHours, Visits
from windrow.compile.panes.shown import shown_panes
from windrow.compile.stage import CompiledStage
from windrow.compile.triggers.tree import compile_trigger
from windrow.compile.windows.base import CompiledWindows
from windrow.compile.windows.inherited import CompiledInherited
from windrow.compile.windows.registry import compile_windows
from windrow.engine.windows.registry import strategy_of
from windrow.spec.aggregates import Count
from windrow.spec.stages.stage import Accumulation, Stage
from windrow.spec.times import HOUR, MINUTE
from windrow.spec.triggers.all import AfterCount, Repeat
from windrow.spec.windows.all import WINDOW_FUNCTIONS
from windrow.spec.windows.base import WindowFunction

EVERY = Repeat(AfterCount(1))
WINDOWS: dict[str, dict] = {
    "fixed": {"size": "1h"}, "sliding": {"size": "1h", "period": "2h"}, "cumulative": {"size": "1d", "step": "1h"},
    "calendar": {"unit": "day"}, "sessions": {"gap": "30m"}, "record": {"difference": "1m"}, "global": {},
    "inherited": {},
}  # fmt: skip
STRATEGIES = {
    "fixed": "Sliced", "sliding": "Unsliced", "cumulative": "Sliced", "calendar": "Sliced", "sessions": "Merging",
    "record": "Records", "inherited": "Inherited",
}  # fmt: skip
"""Of stages that fire as their windows expire. Slices of hopping windows with gaps would be many for one window."""


def compiled(window: WindowFunction, **fields: object) -> CompiledStage:
    """A stage over no elements."""
    trigger = {"trigger": EVERY} if window.IS_GLOBAL else {}
    stage = Stage(window=window, aggregates={"n": Count()}, **{**trigger, **fields})
    windows = compile_windows(window, inherited=CompiledInherited())
    cells = windows.cells(stage, {}, compile_trigger(stage.trigger, types=windows.cells.nodes), {}, {})
    return CompiledStage(stage, None, windows, {}, cells, shown_panes(stage, cells), "struct<k: string>", frozenset())


def window(name: str, **fields: str) -> WindowFunction:
    return WINDOW_FUNCTIONS[name].from_mapping(fields or WINDOWS[name])


def test_every_window_function_is_here() -> None:
    assert set(WINDOWS) == {n for n, cls in WINDOW_FUNCTIONS.items() if cls.__module__.startswith("windrow.")}


@pytest.mark.parametrize("name", WINDOWS)
def test_a_window_function_answers_all_that_is_asked_of_every_one(name: str) -> None:
    windows = compiled(window(name)).windows
    assert isinstance(windows, CompiledWindows) and not type(windows).__abstractmethods__
    assert windows.earliest_start(0) <= 0 and windows.longest > 0 and windows.retention >= 0 and windows.late_span >= 0
    assert windows.greatest_end(0) is None or windows.is_aligned
    assert windows.bucket_range(0, HOUR)[0] <= windows.bucket_range(0, HOUR)[1]


@pytest.mark.parametrize("name", WINDOWS)
def test_the_strategy_of_a_window_function(name: str) -> None:
    assert type(strategy_of(compiled(window(name)))).__name__ == STRATEGIES.get(name, "ByWindow")


def test_windows_of_ones_own_merge_or_stay_as_they_are() -> None:
    found = {type(one).__name__: strategy_of(compiled(one)) for one in (OfficeHours(), Visits(10 * MINUTE))}
    assert {name: type(strategy).__name__ for name, strategy in found.items()} == {
        "OfficeHours": "ByWindow", "Visits": "Merging",
    }  # fmt: skip


def test_the_driver_knows_no_end_of_a_window_of_a_zone_with_rules() -> None:
    """Its rules may be others than those of the JVM, which makes the windows: a tick then looks for itself."""
    daily = compiled(window("calendar", unit="day", zone="Africa/Casablanca")).windows
    utc = compiled(window("calendar", unit="day")).windows
    assert daily.greatest_end_until(30 * HOUR) == 30 * HOUR and utc.greatest_end_until(30 * HOUR) == 24 * HOUR


def test_windows_that_overlap_are_kept_as_slices_where_they_fire_once() -> None:
    overlapping = window("sliding", size="1h", period="20m")
    once = strategy_of(compiled(overlapping))
    assert type(once).__name__ == "Sliced" and once.former is None
    assert once.retention == 40 * MINUTE, "as long as the last window of a slice is open"
    again = strategy_of(compiled(overlapping, allowed_lateness=HOUR))
    assert type(again).__name__ == "Overlapping" and again.retention == 0
    former = again.former
    assert former is not None and former.stage.stage.allowed_lateness == 0 and former.retention == once.retention
    assert strategy_of(compiled(overlapping, trigger=EVERY)).former is None, "they have never been slices"


@pytest.mark.parametrize(
    ("name", "accumulation", "fields"),
    [
        ("fixed", Accumulation.ACCUMULATING, set()),
        ("sessions", Accumulation.ACCUMULATING, {"gone", "superseded"}),
        ("sessions", Accumulation.DISCARDING, {"gone"}),
        ("record", Accumulation.ACCUMULATING, {"record"}),
    ],
)
def test_what_only_the_cells_of_a_family_have(name: str, accumulation: Accumulation, fields: set[str]) -> None:
    cells = compiled(window(name), accumulation=accumulation, trigger=EVERY).cells
    assert set(cells.own_fields) == fields <= set(cells.state)


@pytest.mark.parametrize(("name", "is_known"), [("fixed", True), ("sessions", False)])
def test_what_a_stage_behind_knows_of_windows(name: str, is_known: bool) -> None:
    windows = compiled(window(name)).windows
    assert windows.of_panes.origin == (windows if is_known else None)
    behind = CompiledInherited(windows.of_panes)
    assert behind.of_panes == windows.of_panes, "through any number of stages"
    assert (behind.longest == windows.longest) is is_known
