"""The boundaries of `AtPeriod`. Rule: SEMANTICS section 5; whole days and longer follow the zone's local time."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from windrow.spec.times import EARLIEST_EVENT_TIME, INFINITY, LATEST_EVENT_TIME, micros_of, saturating_add
from windrow.spec.triggers import AtPeriod

_EPOCH = datetime(1970, 1, 1)


def next_boundary(trigger: AtPeriod, clock: int) -> int:
    """The first `reference + k * period` strictly after the clock, in microseconds; +infinity past the year 9999."""
    if not trigger.is_local or not EARLIEST_EVENT_TIME <= clock <= LATEST_EVENT_TIME:
        if clock == INFINITY:
            return INFINITY
        passed = (clock - trigger.reference) // trigger.period
        return saturating_add(trigger.reference + passed * trigger.period, trigger.period)
    zone = ZoneInfo(trigger.zone)
    reference = _local_micros(trigger.reference, zone)
    passed = (_local_micros(clock, zone) - reference) // trigger.period
    candidates = (_instant(reference + (passed + k) * trigger.period, zone) for k in (0, 1, 2))
    return next(boundary for boundary in candidates if boundary > clock)


def _local_micros(instant: int, zone: ZoneInfo) -> int:
    """The local time of an instant, counted as if the zone were UTC."""
    moment = datetime.fromtimestamp(0, UTC) + timedelta(microseconds=instant)
    return (moment.astimezone(zone).replace(tzinfo=None) - _EPOCH) // timedelta(microseconds=1)


def _instant(local: int, zone: ZoneInfo) -> int:
    """The instant of a local time: the first one where it comes twice, that after the gap where it does not exist."""
    return micros_of((_EPOCH + timedelta(microseconds=local)).replace(tzinfo=zone, fold=0))
