"""On which windows two lakes or generations differ, in words and for machines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from decimal import Decimal
from math import isclose
from typing import Any

from windrow.spec.times import format_time
from windrow.view.text.table import cell, table
from windrow.view.text.times import many, window


@dataclass(frozen=True)
class ColumnDiffers:
    """In how many windows a column differs, of those that both sides have; by how much at most, if it has numbers."""

    name: str
    windows: int
    greatest: Any = None


def _is_same(one: Any, other: Any) -> bool:
    is_floating = isinstance(one, float) and isinstance(other, float)
    return one == other or (is_floating and isclose(one, other, rel_tol=1e-9))


@dataclass(frozen=True)
class WindowDiffers:
    """A window on which the sides differ; None where one of them does not have it. Bounds in microseconds, or null."""

    key: Mapping[str, Any]
    window_start: int | None
    window_end: int | None
    here: Mapping[str, Any] | None
    there: Mapping[str, Any] | None

    @property
    def columns(self) -> list[str]:
        """The values that differ; all of a window that one side does not have."""
        one, other = self.here, self.there
        if one is None or other is None:
            return [*(one or other or {})]
        return [name for name in one if not _is_same(one[name], other[name])]


@dataclass(frozen=True)
class Diff:
    """The comparison of one stage; `differing` are the first of the windows that differ.

    `windows` are those that either side has. Of a stage whose panes clear, and of a join, panes and rows are compared
    in their place.
    """

    stage: str
    here: str
    there: str
    windows: int
    only_here: int
    only_there: int
    different: int
    columns: Sequence[ColumnDiffers] = ()
    differing: Sequence[WindowDiffers] = ()
    not_compared: Sequence[str] = ()

    @property
    def number_differing(self) -> int:
        return self.only_here + self.only_there + self.different

    @property
    def is_equal(self) -> bool:
        return self.number_differing == 0


def diff_text(found: Diff, width: int) -> str:
    """A sentence; where the sides differ, how much, and the first windows with both values."""
    without = f" (not compared: {', '.join(found.not_compared)})" if found.not_compared else ""
    sides = f"  here   {found.here}\n  there  {found.there}"
    if found.is_equal:
        return f"{found.stage}: equal: {many(found.windows, 'window')}{without}\n{sides}"
    numbers = (("only here", found.only_here), ("only there", found.only_there), ("different", found.different))
    counted = ", ".join(f"{number:,} {what}" for what, number in numbers if number)
    head = f"{found.stage}: {many(found.number_differing, 'window')} of {found.windows:,} differ: {counted}{without}"
    columns = [f"  {column.name} {_how_much(column)}" for column in found.columns]
    shown = len(found.differing)
    first = "" if shown == found.number_differing else f"the first {shown}:\n"
    return "\n".join([head, sides, *columns, f"{first}{_differences(found.differing, width)}"])


def _how_much(column: ColumnDiffers) -> str:
    by = "" if column.greatest is None else f", by {cell(column.greatest)} at most"
    return f"differs in {many(column.windows, 'window')}{by}"


def _differences(differing: Sequence[WindowDiffers], width: int) -> str:
    keys = list(differing[0].key)
    rows = []
    for one in differing:
        bounds = window(one.window_start, one.window_end)
        for name in one.columns:
            there, here = (_value(side, name) for side in (one.there, one.here))
            rows.append([*(one.key[key] for key in keys), bounds, name, there, here, _by(one, name)])
    return table([*keys, "window", "column", "there", "here", "by"], rows, width)


def _value(side: Mapping[str, Any] | None, name: str) -> str:
    return "(no window)" if side is None else cell(side[name])


def _by(one: WindowDiffers, name: str) -> str:
    """How far the value here is from that there."""
    here, there = (None if side is None else side[name] for side in (one.here, one.there))
    if not all(isinstance(v, int | float | Decimal) and not isinstance(v, bool) for v in (here, there)):
        return ""
    by = here - there  # type: ignore[operator]
    return f"{'+' if by > 0 else ''}{cell(by)}"


def diff_mapping(found: Diff) -> dict[str, Any]:
    """The same for machines."""
    return {
        "stage": found.stage, "here": found.here, "there": found.there, "equal": found.is_equal,
        "windows": found.windows, "only_here": found.only_here, "only_there": found.only_there,
        "different": found.different, "columns": [asdict(column) for column in found.columns],
        "not_compared": list(found.not_compared),
        "differing": [
            {
                "key": dict(one.key),
                "window_start": None if one.window_start is None else format_time(one.window_start),
                "window_end": None if one.window_end is None else format_time(one.window_end),
                "here": one.here,
                "there": one.there,
            }
            for one in found.differing
        ],
    }  # fmt: skip
