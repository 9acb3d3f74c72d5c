"""The boundaries of `AtPeriod`; whole days and longer follow the zone's local time.

Rule: docs/semantics.md#triggers.
"""

from __future__ import annotations

from zoneinfo import ZoneInfo

from windrow.compile.windows.local_time import instant_of, local_of
from windrow.spec.times import EARLIEST_EVENT_TIME, INFINITY, LATEST_EVENT_TIME, saturating_add
from windrow.spec.triggers.all import AtPeriod


def next_boundary(trigger: AtPeriod, clock: int) -> int:
    """The first `reference + k * period` strictly after the clock, in microseconds; +infinity past the year 9999."""
    if not trigger.is_local or not EARLIEST_EVENT_TIME <= clock <= LATEST_EVENT_TIME:
        if clock == INFINITY:
            return INFINITY
        passed = (clock - trigger.reference) // trigger.period
        return saturating_add(trigger.reference + passed * trigger.period, trigger.period)
    zone = ZoneInfo(trigger.zone)
    reference = local_of(trigger.reference, zone)
    passed = (local_of(clock, zone) - reference) // trigger.period
    candidates = (instant_of(reference + (passed + k) * trigger.period, zone) for k in (0, 1, 2))
    return next(boundary for boundary in candidates if boundary > clock)
