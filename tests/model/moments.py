"""When a window expires, and what its trigger sees of a tick.

Rules: docs/semantics.md#ticks, docs/semantics.md#windows.
"""

from __future__ import annotations

from tests.model.assign import Window
from tests.model.clock import Clock
from tests.model.trigger_leaves import Moment
from tests.model.typed_stage import TypedStage
from windrow.spec.times import saturating_add


def expiry(typed: TypedStage, window: Window) -> int:
    """The watermark at which a window expires: a sum that stays at +infinity."""
    return saturating_add(window.end, typed.stage.allowed_lateness)


def moment_of(typed: TypedStage, window: Window, clock: Clock) -> Moment:
    return Moment(
        window.end,
        expiry(typed, window),
        clock.now,
        clock.watermark_before,
        clock.watermark_after,
        clock.watermark_of,
        clock.watermark_before_of,
    )
