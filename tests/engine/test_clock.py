"""The clocks of a stage as values, and in the control row that keeps them over a restart."""

from __future__ import annotations

import pytest

from windrow.engine.clocks.clock import StageClock
from windrow.spec.sources.watermarks import Watermark
from windrow.spec.times import INFINITY, MINUS_INFINITY, SECOND
from windrow.store.journal.control import Control
from windrow.store.upstream.offsets import START

RULE = Watermark(bounded_delay=0)
CLOCK = StageClock().seen({"a": 1, "b": 2, "c": 3, "d": 4}, now=0, greatest_end=None)


@pytest.mark.parametrize(
    ("percentile", "watermark"), [(100, 1), (76, 1), (75, 2), (51, 2), (50, 3), (26, 3), (25, 4), (1, 4)]
)
def test_a_percentile_is_what_so_many_partitions_have_reached(percentile: int, watermark: int) -> None:
    assert CLOCK.generated(RULE, percentile) == watermark


def test_a_percentile_never_goes_back_and_is_never_behind_the_watermark() -> None:
    clock = CLOCK.with_percentiles({50: 3})
    assert clock.with_percentiles({50: 2}).percentile(50) == 3
    assert clock.with_watermark(5, 0).with_percentiles({50: 2}).percentile(50) == 5
    assert clock.with_watermark(INFINITY, 0).percentile(50) == INFINITY
    assert clock.percentile(90) == MINUS_INFINITY
    assert clock.with_percentiles({50: 4}).is_ahead_of(clock)
    assert not clock.with_percentiles({50: 3}).is_ahead_of(clock)


def test_the_clock_is_read_from_the_control_row_as_it_was_written() -> None:
    clock = CLOCK.with_watermark(SECOND, 0).with_percentiles({50: 3 * SECOND, 90: 2 * SECOND})
    control = Control(tick=3, kind="stream", offsets=START, streams=True, watermark_before=0, clock=clock)
    assert Control.from_json(control.to_json()) == control
