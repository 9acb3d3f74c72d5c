"""The boundaries of `AtPeriod`: reference + k * period, in local time for whole days.

Rule: docs/semantics.md#triggers.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from windrow.spec.times import INFINITY, micros_of, saturating_add
from windrow.spec.triggers.all import AtPeriod

_EPOCH = datetime(1970, 1, 1)


def first_boundary_after(spec: AtPeriod, clock: int) -> int:
    """The first boundary strictly after the clock; +infinity where that is beyond all time."""
    if spec.is_local:
        return _first_local_boundary_after(spec, clock)
    passed = (clock - spec.reference) // spec.period
    return saturating_add(spec.reference, (passed + 1) * spec.period)


def _first_local_boundary_after(spec: AtPeriod, clock: int) -> int:
    zone = ZoneInfo(spec.zone)
    try:
        reference = local_time(spec.reference, zone)
        passed = (local_time(clock, zone) - reference) // spec.period
        boundaries = (instant(reference + k * spec.period, zone) for k in range(passed - 1, passed + 4))
        return next(boundary for boundary in boundaries if boundary > clock)
    except OverflowError:  # beyond the year 9999, which no element reaches
        return INFINITY


def local_time(micros: int, zone: ZoneInfo) -> int:
    """What a clock in the zone shows at an instant, as microseconds since 1970-01-01T00:00 on that clock."""
    utc = (_EPOCH + timedelta(microseconds=micros)).replace(tzinfo=UTC)
    return _micros(utc.astimezone(zone).replace(tzinfo=None))


def instant(local: int, zone: ZoneInfo) -> int:
    """The instant at which a clock in the zone shows a local time.

    A local time that comes twice is the first one; one that does not exist is the first instant after the gap.
    """
    wall = _EPOCH + timedelta(microseconds=local)
    first, second = (micros_of(wall.replace(tzinfo=zone, fold=fold)) for fold in (0, 1))
    if local_time(first, zone) == local:
        return first
    before, after = second, first  # in a gap: the old offset gives an instant behind it, the new one an instant before
    while after - before > 1:
        middle = (before + after) // 2
        is_behind = _offset(middle, zone) == _offset(after, zone)
        before, after = (before, middle) if is_behind else (middle, after)
    return after


def _offset(micros: int, zone: ZoneInfo) -> int:
    return local_time(micros, zone) - micros


def _micros(wall: datetime) -> int:
    return (wall - _EPOCH) // timedelta(microseconds=1)
