"""The cost of each step as a formula: seconds whatever there is to do, and core-seconds for each unit of work.

    seconds = fixed + (per row * rows + per cell * cells + ...) / cores

The coefficients are those that fit what was measured best, relative to each measurement, and none is below zero.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

Work = Mapping[str, float]
"""What there is to do: the number of each unit, and `cores`."""

UNITS: Mapping[str, tuple[str, ...]] = {
    "landing": ("rows",),
    "tick": ("rows", "written", "open"),
    "tables": ("touched",),
    "refresh": ("touched", "copied"),
    "compaction": ("open",),
    "maintenance": ("files", "bytes"),
    "repeated": (),
}
"""The steps, and the units of work on which each depends.

`rows` are those of a tick; `touched` the cells that it changes, each with a pane; `open` all cells that are open;
`written` those that it writes: all of them where it has no fewer rows, else those that it changes;
`copied` the rows of `current` that are written again because they are in a file with one that changes; `files`
and `bytes` those that maintenance finds; it is `repeated` where it finds nothing to do.
"""


def writes_all_cells(rows: float, open_cells: float) -> bool:
    """Whether a tick of so many rows writes all open cells itself."""
    return rows >= open_cells


def cells(rows: float, touched: float, open_cells: float) -> dict[str, float]:
    """The units of a tick that changes so many cells of those that are open."""
    written = open_cells if writes_all_cells(rows, open_cells) else touched
    return {"rows": rows, "touched": touched, "open": open_cells, "written": written}


@dataclass(frozen=True)
class Formula:
    """Seconds of a step; `each` has the core-seconds of one unit."""

    fixed: float
    each: Mapping[str, float]

    def seconds(self, work: Work) -> float:
        return self.fixed + sum(one * work[unit] for unit, one in self.each.items()) / work["cores"]


def fit(step: str, measured: Sequence[tuple[Work, float]]) -> Formula:
    """The formula of a step, from work and the seconds that it took.

    Raises ValueError where there are fewer measurements than coefficients.
    """
    units = UNITS[step]
    if len(measured) <= len(units):
        raise ValueError(f"{step}: {len(measured)} measurements are too few for {len(units) + 1} coefficients")
    rows = [[1.0, *(work[unit] / work["cores"] for unit in units)] for work, _ in measured]
    seconds = np.array([one for _, one in measured])
    found = _not_below_zero(np.array(rows) / seconds[:, None])
    return Formula(found[0], dict(zip(units, found[1:], strict=True)))


def _not_below_zero(rows: np.ndarray[Any, Any]) -> list[float]:
    """The coefficients, none below zero, by which the rows come nearest to 1: those of the best subset."""
    units, best, least = range(rows.shape[1]), [0.0] * rows.shape[1], float(len(rows))
    subsets = [list(some) for size in units for some in combinations(units, size + 1)]
    for kept in subsets:
        found = np.linalg.lstsq(rows[:, kept], np.ones(len(rows)), rcond=None)[0]
        off = float(np.square(rows[:, kept] @ found - 1.0).sum())
        if found.min() >= 0 and off < least:
            values = dict(zip(kept, found.tolist(), strict=True))
            best, least = [float(values.get(index, 0.0)) for index in range(rows.shape[1])], off
    return best


def has_enough(points: Sequence[Mapping[str, Any]]) -> bool:
    """Whether so many points were measured that every step has a formula."""
    fitted = [point for point in points if not point["checks"]]
    return all(len(_measured(step, fitted)) > len(units) for step, units in UNITS.items())


@dataclass(frozen=True)
class Costs:
    """The formulas of all steps that were measured."""

    formulas: Mapping[str, Formula]

    @classmethod
    def of(cls, points: Sequence[Mapping[str, Any]]) -> Costs:
        """From the points of `costs.json` that are not there to check the formulas."""
        fitted = [point for point in points if not point["checks"]]
        return cls({step: fit(step, _measured(step, fitted)) for step in UNITS})

    def checked(self, points: Sequence[Mapping[str, Any]]) -> list[tuple[str, str, float, float]]:
        """Of the points that check the formulas: size, step, measured seconds, and those of the formula."""
        return [
            (point["name"], step, seconds, self.formulas[step].seconds(work))
            for point in points
            if point["checks"]
            for step in UNITS
            for work, seconds in _measured(step, [point])
        ]


def _measured(step: str, points: Sequence[Mapping[str, Any]]) -> list[tuple[Work, float]]:
    return [(one["work"], one["seconds"]) for point in points for one in point["steps"].get(step, [])]
