"""The plot of a soak: what was measured, over time."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bench.plots import plt, saved
from bench.soak.verdict import KILLED

_WHAT = {
    "memory": ("memory of the stream, GiB", 1 / 2**30),
    "live": ("objects in use\nof its JVM, MiB", 1 / 2**20),
    "threads": ("its threads", 1.0),
    "files": ("live files of all tables", 1.0),
    "stored": ("data files,\nold ones too", 1.0),
    "entries": ("log entries of all tables", 1.0),
    "tick": ("from landing to panes, s", 1.0),
    "refresh": ("from panes to current, s", 1.0),
}
_POINTS = 400
"""So many points of a series are in the file with its numbers, at most."""


def drawn(found: Mapping[str, Any], folder: Path) -> Path:
    """Draw it as soak.svg, and write its numbers beside it."""
    series = {name: _thinned(found["series"][name]) for name in _WHAT}
    figure, grid = plt.subplots(len(_WHAT), 1, figsize=(8, 1.7 * len(_WHAT)), sharex=True)
    for axes, (name, (label, scale)) in zip(grid, _WHAT.items(), strict=True):
        minutes, values = [at / 60 for at, _ in series[name]], [value * scale for _, value in series[name]]
        axes.plot(minutes, values, ".", markersize=2)
        for at in (found["seconds"] * KILLED, found["seconds"] / 2 + found["period"]):
            axes.axvline(at / 60, color="grey", linewidth=1)
        axes.set(ylabel=label.replace(", ", ",\n"))
        axes.set_ylim(bottom=0)
        axes.grid(linewidth=0.3)
    grid[-1].set(xlabel="minutes; killed until the first line, and flat behind the second one")
    saved(figure, folder / "soak.svg")
    numbers = {**found, "series": series}
    (folder / "soak.json").write_text(json.dumps(numbers) + "\n")
    return folder / "soak.svg"


def _thinned(points: list[list[float]]) -> list[list[float]]:
    """Some of the points, evenly."""
    step = max(1, -(-len(points) // _POINTS))
    return points[::step]
