"""Which stages fire once per window at most, as far as their triggers tell.

Rules: docs/semantics.md#triggers, docs/semantics.md#panes, docs/semantics.md#stages-that-read-stages.
"""

from __future__ import annotations

from windrow.spec.stages.stage import Stage
from windrow.spec.triggers.base import without_sugar
from windrow.spec.triggers.closing import earliest_ready
from windrow.spec.triggers.moments import Moment


def fires_once(stage: Stage) -> bool:
    """Whether a window of the stage emits one pane at most, whatever comes. Conservative: false where it is not sure.

    Either its first firing finishes the trigger, and a closed window neither emits nor merges; or the trigger can be
    ready in the tick only in which the window expires.
    """
    ready = earliest_ready(stage.trigger)
    lateness = 0 if stage.window.IS_GLOBAL else stage.allowed_lateness
    is_at_expiry = ready >= Moment.AT_EXPIRY or (ready is Moment.AT_WATERMARK and lateness == 0)
    return is_at_expiry or without_sugar(stage.trigger).finishes_by_firing()


def leaves_nothing(stage: Stage) -> bool:
    """Whether a window that is complete has no element that no pane carries. Conservative: false where it is not sure.

    Then no pane is still to come that would hold the stage's output watermark back.
    """
    if stage.keeps_event_times:
        return False
    return stage.allowed_lateness == 0 or stage.trigger.leaves_nothing()


def fires_at_end(stage: Stage) -> bool:
    """Whether a window fires in the tick only in which it expires, and nothing but its elements and the watermark
    decides what the pane is.
    """
    sees_end_only = without_sugar(stage.trigger).sees_end_only()
    return stage.allowed_lateness == 0 and not stage.keeps_event_times and sees_end_only


def keeps_slices(stage: Stage) -> bool:
    """Whether the cells of the stage are slices of window time, from which windows are formed as they fire."""
    return stage.window.has_slices and fires_at_end(stage)
