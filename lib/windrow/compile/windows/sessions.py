"""Sessions as columns: the window of one element, before windows of a key merge. Rule: docs/semantics.md#sessions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from windrow.compile.columns import GAP
from windrow.compile.sql import columns as sql
from windrow.compile.sql.columns import Column, bigint, call, changing, col, floor_to, when
from windrow.compile.windows.base import Bounds
from windrow.compile.windows.families import MergingWindows
from windrow.spec.expressions import Expression
from windrow.spec.times import INFINITY, MINUS_INFINITY, SECOND
from windrow.spec.windows.sessions import Sessions

_NONE = sql.empty_array("bigint")


@dataclass(frozen=True)
class CompiledSessions(MergingWindows):
    """`[t, t + gap)` for each element; its id is the time. `gap_kind` is the type of a gap that is an expression.

    A slice is what one session holds in any case: the elements less than a fixed gap apart that are in one stretch of
    time as long as the gap, or those of one time.
    """

    window: Sessions
    gap_kind: str = ""

    @property
    def shares_slices(self) -> bool:
        return False

    @property
    def longest(self) -> int:
        return self.window.longest_gap

    def carried(
        self, event_time: Column, key: Sequence[Column], arguments: Mapping[str, Column]
    ) -> Mapping[str, Column]:
        if "gap" not in arguments:
            return {}
        gap = _microseconds(arguments["gap"], self.gap_kind)
        return {GAP: when(gap.between(bigint(1), bigint(self.longest)), gap)}

    def wrong(self, event_time: Column) -> Column | None:
        return col(GAP).is_null() if self._varies else None

    @property
    def _varies(self) -> bool:
        return isinstance(self.window.gap, Expression)

    def last_end(self, event_time: Column) -> Column:
        return self.bounds(event_time)[1]

    def assigned(self, event_time: Column) -> Column:
        return bigint(1)

    def late(self, event_time: Column, expired_end: int) -> Column:
        return self._has_expired(event_time, expired_end).cast("bigint")

    def suspect(self, event_time: Column, expired_end: int) -> Column:
        end = changing(expired_end, event_time)
        reaches = event_time <= end if self.touches else event_time < end
        return reaches & ~self._has_expired(event_time, expired_end)

    @property
    def touches(self) -> bool:
        return self.window.merge_touching

    def slice_of(self, event_time: Column) -> Column:
        return event_time if self._varies else floor_to(event_time, self.longest, 0)

    def bounds(self, window_id: Column) -> tuple[Column, Column]:
        return window_id, window_id + (col(GAP) if self._varies else bigint(self.longest))

    def late_window_ids(self, event_time: Column, expired_end: int) -> Column:
        if expired_end == INFINITY:
            return sql.array(event_time)
        return sql.case((self._has_expired(event_time, expired_end), sql.array(event_time)), otherwise=_NONE)

    def _has_expired(self, start: Column, expired_end: int) -> Column:
        if expired_end == MINUS_INFINITY:
            return sql.lit(False)
        return self.bounds(start)[1] <= changing(expired_end, start)

    def windows_among(self, times: Sequence[int]) -> list[Bounds] | None:
        if self._varies:
            return None
        found: list[Bounds] = []
        for time in sorted(times):
            if found and (time < found[-1][1] or (self.touches and time == found[-1][1])):
                found[-1] = found[-1][0], time + self.longest
            else:
                found.append((time, time + self.longest))
        return found

    def span(self, start: int, end: int) -> tuple[int, int] | None:
        return start, end


def _microseconds(gap: Column, kind: str) -> Column:
    """An interval, or a number of seconds, as whole microseconds; null where they do not fit 64 bits."""
    if kind.startswith("interval"):
        return call("unix_micros", call("try_add", call("timestamp_micros", bigint(0)), gap))
    seconds = gap.try_cast("decimal(24, 6)")
    return (seconds * bigint(SECOND)).try_cast("bigint")
