"""Fixed windows that are shifted by their key, so that not all of them end at one time.

Rule: docs/semantics.md#windows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from windrow.compile.columns import SHIFT
from windrow.compile.sql.columns import Column, bigint, call, col, floor_to
from windrow.compile.windows.base import UnalignedWindows
from windrow.compile.windows.families import SuccessiveWindows


@dataclass(frozen=True)
class CompiledByKey(SuccessiveWindows, UnalignedWindows):
    """`[k * size + offset + shift, ...)`, where the shift is the hash of the key, modulo the size."""

    size: int
    offset: int

    @property
    def longest(self) -> int:
        return self.size

    def carried(
        self, event_time: Column, key: Sequence[Column], arguments: Mapping[str, Column]
    ) -> Mapping[str, Column]:
        return {SHIFT: call("pmod", call("xxhash64", *key), bigint(self.size))}

    def slice_of(self, event_time: Column) -> Column:
        shifted = event_time - col(SHIFT)
        return floor_to(shifted, self.size, self.offset) + col(SHIFT)

    def bounds(self, window_id: Column) -> tuple[Column, Column]:
        return window_id, window_id + bigint(self.size)
