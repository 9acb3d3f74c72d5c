"""Windows that overlap, formed from slices of window time, as columns. Rule: docs/semantics.md#windows.

Cut the slices of a key into blocks as long as a window: a window is the end of one block and the beginning of the next,
so it is two values merged, however many slices it has. The one is what a block holds from a slice on, the other what
the next one holds up to a slice; an aggregate needs nothing for that but that it can be merged.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from windrow.compile.columns import KEY, SLICE
from windrow.compile.sql.columns import Column, bigint, call, col, floor_to, greatest, least, over_frame
from windrow.compile.windows.aligned import OverlappingWindows

BLOCK = "_block"
PREVIOUS, FOLLOWING = "_previous", "_following"
"""The slices of the key right before and behind one, null without one."""


@dataclass(frozen=True)
class SliceColumns:
    """Which windows a slice is in. `ends` says which are wanted: those that end behind the first and up to the last."""

    windows: OverlappingWindows
    ends: tuple[int, int]

    def block(self) -> Column:
        return floor_to(col(SLICE), self.windows.size, self.windows.offset)

    def neighbours(self) -> Mapping[str, Column]:
        """The slices of the key before and behind, over slices with their blocks."""
        in_key = f"OVER (PARTITION BY {col(KEY).text} ORDER BY {col(BLOCK).text}, {col(SLICE).text})"
        found = {PREVIOUS: "lag", FOLLOWING: "lead"}
        return {name: Column(f"{function}({col(SLICE).text}) {in_key}") for name, function in found.items()}

    def starts_at_edge(self) -> Column:
        """The starts of the wanted windows in whose first block the slice is the first, or in whose second the last.

        Each window that has anything is there once for each of its blocks that has.
        """
        size, slice_id, block = bigint(self.windows.size), col(SLICE), col(BLOCK)
        as_first = self._starts(greatest(col(PREVIOUS) + bigint(self.windows.slice_size), block), slice_id)
        as_last = self._starts(
            slice_id - bigint(self.windows.earlier_span_of_slice), least(col(FOLLOWING) - size, block - 1)
        )
        return call("concat", as_first, as_last)

    def is_first(self, start: Column) -> Column:
        """Whether the window starts in the block of the slice."""
        return start >= col(BLOCK)

    def _starts(self, first: Column, last: Column) -> Column:
        return self.windows.starts_ending(first, last, self.ends, col(SLICE))


def so_far(merge: Column) -> Column | None:
    """What a block holds up to a slice, by an aggregate over slices; None where that is not one plain aggregate."""
    return over_frame(merge, f"{_IN_BLOCK} ORDER BY {col(SLICE).text} ROWS UNBOUNDED PRECEDING")


def from_here(merge: Column) -> Column | None:
    """What a block holds from a slice on, likewise."""
    return over_frame(merge, f"{_IN_BLOCK} ORDER BY {col(SLICE).text} DESC ROWS UNBOUNDED PRECEDING")


_IN_BLOCK = f"PARTITION BY {col(KEY).text}, {col(BLOCK).text}"
