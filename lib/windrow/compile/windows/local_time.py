"""Local times of a zone and the instants at which they come.

Rules: docs/semantics.md#windows, docs/semantics.md#triggers.

Local times are microseconds too: what a clock in the zone shows, counted as if the zone were UTC. A local time that
comes twice is the first one, one that does not exist is the first instant after the gap.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from windrow.spec.times import DAY, EARLIEST_EVENT_TIME, LATEST_EVENT_TIME

_EPOCH = datetime(1970, 1, 1)
_MICROSECOND = timedelta(microseconds=1)


def local_of(instant: int, zone: ZoneInfo) -> int:
    """What a clock in the zone shows at an instant."""
    return instant + _offset(instant, zone)


def instant_of(local: int, zone: ZoneInfo) -> int:
    """The first instant at which a clock in the zone shows a local time, or has passed it over."""
    wall = _EPOCH + _MICROSECOND * min(max(local, EARLIEST_EVENT_TIME + DAY), LATEST_EVENT_TIME - DAY)
    first, second = (_offset_of_wall(wall.replace(fold=fold), zone) for fold in (0, 1))
    if local_of(local - first, zone) == local:
        return local - first
    return _end_of_gap(local - second, local - first, zone)


def shifted_instant_of(local: int, zone: ZoneInfo) -> int:
    """The same, but for one that does not exist: it is as far behind the gap's begin as the local time is."""
    wall = _EPOCH + _MICROSECOND * min(max(local, EARLIEST_EVENT_TIME + DAY), LATEST_EVENT_TIME - DAY)
    return local - _offset_of_wall(wall, zone)


def _end_of_gap(before: int, behind: int, zone: ZoneInfo) -> int:
    """The instant of the change between two others."""
    while behind - before > 1:
        middle = (before + behind) // 2
        if _offset(middle, zone) == _offset(behind, zone):
            behind = middle
        else:
            before = middle
    return behind


def _offset(instant: int, zone: ZoneInfo) -> int:
    """How far the zone's clocks are ahead of UTC. Beyond the calendar it is that of its last days."""
    inside = min(max(instant, EARLIEST_EVENT_TIME + DAY), LATEST_EVENT_TIME - DAY)
    return _offset_of_wall((_EPOCH.replace(tzinfo=UTC) + _MICROSECOND * inside).astimezone(zone), zone)


def _offset_of_wall(wall: datetime, zone: ZoneInfo) -> int:
    offset = wall.replace(tzinfo=zone).utcoffset()
    assert offset is not None, "a zone has an offset at any time"
    return offset // _MICROSECOND
