"""Which triggers can lose data: those that may finish before their window expires. Rule: docs/semantics.md#triggers."""

from __future__ import annotations

from windrow.spec.errors import SpecError
from windrow.spec.triggers.base import Trigger, without_sugar
from windrow.spec.triggers.moments import Moment

__all__ = ["Moment", "can_close", "check_loses_nothing", "earliest_finish", "earliest_ready"]


def earliest_ready(trigger: Trigger) -> Moment:
    """The earliest moment at which a fresh trigger can be ready."""
    return without_sugar(trigger).earliest_ready()


def earliest_finish(trigger: Trigger) -> Moment:
    """The earliest moment at which a fresh trigger can have finished for good."""
    return without_sugar(trigger).earliest_finish()


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
