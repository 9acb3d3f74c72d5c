"""Which triggers can lose data: those that may finish before their window expires. Rule: docs/semantics.md#triggers."""

from __future__ import annotations

from windrow.spec.errors import SpecError
from windrow.spec.triggers.all import (
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
from windrow.spec.triggers.custom import CustomTrigger
from windrow.spec.triggers.moments import Moment

__all__ = ["Moment", "can_close", "check_loses_nothing", "earliest_finish", "earliest_ready"]


def earliest_ready(trigger: Trigger) -> Moment:
    """The earliest moment at which a fresh trigger can be ready. A user's own class says it of itself."""
    trigger = without_sugar(trigger)
    match trigger:
        case AtWatermark():
            return Moment.AT_WATERMARK if trigger.percentile == 100 else Moment.BEFORE_WATERMARK
        case AtClose():
            return Moment.AT_EXPIRY
        case Never():
            return Moment.NEVER
        case FirstOf() | RepeatUntil():
            return min(earliest_ready(child) for child in trigger.children)
        case AllOf():
            return max(earliest_ready(child) for child in trigger.children)
        case SequenceOf() | Repeat() | RepeatCount():
            return earliest_ready(trigger.children[0])
        case CustomTrigger():
            return trigger.earliest_ready()
        case _:
            return Moment.BEFORE_WATERMARK


def earliest_finish(trigger: Trigger) -> Moment:
    """The earliest moment at which a fresh trigger can have finished for good."""
    trigger = without_sugar(trigger)
    match trigger:
        case Repeat():
            return Moment.NEVER
        case RepeatUntil():
            return earliest_ready(trigger.until)
        case RepeatCount():
            return earliest_ready(trigger.repeat)
        case SequenceOf():
            return max(earliest_finish(child) for child in trigger.children)
        case CustomTrigger():
            return trigger.earliest_finish()
        case _:
            return earliest_ready(trigger)


def can_close(trigger: Trigger, allowed_lateness: int) -> bool:
    """True where the trigger can finish before the window expires, so that later elements would be `closed`."""
    finish = earliest_finish(trigger)
    return finish < Moment.AT_WATERMARK or (finish == Moment.AT_WATERMARK and allowed_lateness > 0)


def check_loses_nothing(trigger: Trigger, allowed_lateness: int) -> None:
    """Refuse a trigger that can close its window too soon, with the reason and the fix."""
    if not can_close(trigger, allowed_lateness):
        return
    when = "before the window is complete"
    if earliest_finish(trigger) == Moment.AT_WATERMARK:
        when = "at the watermark, before the allowed lateness is over"
    raise SpecError(
        "trigger",
        f"can finish {when}, and elements that come later would be in no result",
        trigger.NAME,
        "write repeat: around it, or a late: part, or allow_closing: true (later elements then are dead letters"
        " with reason closed)",
    )
