"""The clocks of inputs: those of one input are what its source alone gives, those of several the least."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from windrow.drivers.pipeline.clocks import Clocks, ClocksOfSource, ClocksOfStage
from windrow.engine.clocks.clock import StageClock
from windrow.engine.clocks.inputs import active, moved
from windrow.engine.tick.statistics import BatchStatistics
from windrow.spec.sources.watermarks import Watermark
from windrow.spec.stages.inputs import ONLY
from windrow.spec.stages.stage import Stage
from windrow.spec.times import MINUS_INFINITY
from windrow.store.upstream.offsets import START, Offsets

STAGE = Stage.from_mapping(
    {
        "window": {"fixed": {"size": "10us"}},
        "trigger": {"repeat": {"at_watermark": {"percentile": 50}}},
        "allowed_lateness": "3us",
        "aggregates": {"n": {"count": "*"}},
    }
)
TICKS = st.lists(st.tuples(st.dictionaries(st.sampled_from("abc"), st.integers(0, 60)), st.integers(0, 60)), max_size=8)
RULES = st.sampled_from(
    [Watermark(bounded_delay=2), Watermark(bounded_delay=0, idle_timeout=5), Watermark(fixed_lag=4, idle_timeout=9)]
)


def collect_statistics(greatest: dict[str, int]) -> BatchStatistics:
    return BatchStatistics(
        greatest=dict(greatest), latest_end=max((at // 10 * 10 + 10 for at in greatest.values()), default=None)
    )


@given(TICKS, RULES)
def test_one_input_has_the_watermark_that_its_source_alone_gives(ticks: Any, rule: Watermark) -> None:
    clocks = Clocks(STAGE, {ONLY: ClocksOfSource("rows", rule, STAGE)})
    alone, whole, now = StageClock(), StageClock(), MINUS_INFINITY
    for number, (greatest, at) in enumerate(ticks):
        found, now = collect_statistics(greatest), max(now, at)
        alone = moved(alone.seen(found.greatest, now, found.latest_end, found.asserted), rule, STAGE)
        batch: Any = {ONLY: (None, found)} if greatest else {}
        whole = clocks.moved(clocks.seen(whole, batch, now), Offsets({ONLY: number + 1}))
        for name in ("now", "watermark", "expired_end", "greatest_end", "percentiles"):
            assert getattr(whole, name) == getattr(alone, name), name
        assert whole.inputs[ONLY].clock.partitions == alone.partitions
        assert clocks.active(whole) == active(alone, rule)
        assert clocks.is_idle(whole) == (alone.idle(rule) >= alone.partitions.keys())


class Panes:
    """A stage whose output watermark is ten times the tick."""

    name = "above"

    def now_after(self, spark: Any, tick: int) -> int:
        return 100 + tick

    def clock_after(self, spark: Any, tick: int) -> StageClock:
        return StageClock(output_watermark=10 * tick)


def test_panes_bring_their_watermark_and_processing_time() -> None:
    above = ClocksOfStage(None, Panes(), STAGE, replays=False)  # type: ignore[arg-type]
    one = Clocks(STAGE, {ONLY: above})
    assert one.now({}, Offsets({ONLY: 2})) == 102 and one.now({}, START) == MINUS_INFINITY
    clock = one.moved(one.seen(StageClock(), {}, 102), Offsets({ONLY: 2}))
    assert (clock.watermark, clock.expired_end) == (20, 17) and not one.is_idle(clock)
    two = Clocks(STAGE, {"left": above, "right": above})
    until = Offsets({"left": 3, "right": 1})
    assert two.now({}, until) == 103
    assert two.moved(two.seen(StageClock(), {}, 103), until).watermark == 10


def test_element_times_hold_the_watermark_of_panes_back() -> None:
    own = Stage.from_mapping({**STAGE.to_mapping(), "element_time": {"of": "timestamp_micros(n)", "backward": "4us"}})
    clocks = Clocks(own, {ONLY: ClocksOfStage(None, Panes(), own, replays=False)})  # type: ignore[arg-type]
    assert clocks.moved(clocks.seen(StageClock(), {}, 0), Offsets({ONLY: 2})).watermark == 16
