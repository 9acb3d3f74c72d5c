"""Which stages fire once per window at most, as far as their triggers tell.

Rules: docs/semantics.md#triggers, docs/semantics.md#panes, docs/semantics.md#stages-that-read-stages.
"""

from __future__ import annotations

from windrow.spec.stages.stage import Stage
from windrow.spec.triggers.all import (
    DEFAULT_TRIGGER,
    AfterCount,
    AfterWatermark,
    AllOf,
    AtClose,
    AtWatermark,
    FirstOf,
    Never,
    Repeat,
    RepeatCount,
    RepeatUntil,
    SequenceOf,
    Trigger,
    without_sugar,
)
from windrow.spec.triggers.closing import earliest_ready
from windrow.spec.triggers.custom import CustomTrigger
from windrow.spec.triggers.moments import Moment
from windrow.spec.windows.aligned import SlidingWindows


def fires_once(stage: Stage) -> bool:
    """Whether a window of the stage emits one pane at most, whatever comes. Conservative: false where it is not sure.

    Either its first firing finishes the trigger, and a closed window neither emits nor merges; or the trigger can be
    ready in the tick only in which the window expires.
    """
    ready = earliest_ready(stage.trigger)
    lateness = 0 if stage.window.IS_GLOBAL else stage.allowed_lateness
    is_at_expiry = ready >= Moment.AT_EXPIRY or (ready is Moment.AT_WATERMARK and lateness == 0)
    return is_at_expiry or finishes_by_firing(stage.trigger)


def leaves_nothing(stage: Stage) -> bool:
    """Whether a window that is complete has no element that no pane carries. Conservative: false where it is not sure.

    Then no pane is still to come that would hold the stage's output watermark back.
    """
    if stage.keeps_event_times:
        return False
    fires_at_once = stage.trigger == DEFAULT_TRIGGER or (
        isinstance(stage.trigger, AfterWatermark) and stage.trigger.late == AfterCount(1)
    )
    return stage.allowed_lateness == 0 or fires_at_once


def keeps_slices(stage: Stage) -> bool:
    """Whether the cells of the stage are slices of window time, from which overlapping windows are formed as they fire.

    So where a window fires in the tick only in which it expires, and nothing but its elements and the watermark decides
    what the pane is.
    """
    window = stage.window
    overlaps = isinstance(window, SlidingWindows) and window.period < window.size
    return overlaps and stage.allowed_lateness == 0 and not stage.keeps_event_times and _sees_end_only(stage.trigger)


def _sees_end_only(trigger: Trigger) -> bool:
    """Whether the trigger looks at nothing but whether the watermark has reached the end of the window."""
    trigger = without_sugar(trigger)
    match trigger:
        case AtWatermark():
            return trigger.percentile == 100
        case AtClose() | Never():
            return True
        case FirstOf() | AllOf() | SequenceOf() | Repeat() | RepeatUntil() | RepeatCount():
            return all(map(_sees_end_only, trigger.children))
        case _:
            return False


def finishes_by_firing(trigger: Trigger) -> bool:
    """Whether the first firing of a fresh trigger finishes it for good."""
    trigger = without_sugar(trigger)
    match trigger:
        case Repeat():
            return False
        case RepeatUntil():  # it is finished by `until` only, so the other must have no firing of its own
            return earliest_ready(trigger.repeat) is Moment.NEVER
        case RepeatCount():
            return trigger.times == 1
        case SequenceOf():
            return len(trigger.children) == 1 and finishes_by_firing(trigger.children[0])
        case CustomTrigger():
            return trigger.finished().strip().lower() == "true"
        case _:
            return True
