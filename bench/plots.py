"""Plots as SVG, and tables, for the pages that are made of what was measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("svg")
matplotlib.rcParams["svg.hashsalt"] = "windrow"

from matplotlib import pyplot as plt  # noqa: E402
from matplotlib.axes import Axes  # noqa: E402
from matplotlib.figure import Figure  # noqa: E402
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter  # noqa: E402

__all__ = ["machine_line", "plain", "plt", "saved", "table"]


def plain(axes: Axes) -> None:
    """Numbers on logarithmic axes as plain ones, and lines to read them by."""
    for axis in (axes.xaxis, axes.yaxis):
        if axis.get_scale() == "log":
            axis.set_major_locator(LogLocator(subs=(1, 2, 5)))
            axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.12g}"))
            axis.set_minor_formatter(NullFormatter())
    axes.grid(which="both", linewidth=0.3)


def saved(figure: Figure, path: Path) -> None:
    """As SVG that is the same for the same numbers."""
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None, "Creator": None})
    plt.close(figure)


def table(names: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table in Markdown."""
    lines = [names, ["---"] * len(names), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def machine_line(machine: Mapping[str, Any]) -> str:
    """What was measured on, and with which versions."""
    return f"Measured with: {', '.join(f'{name} {value}' for name, value in machine.items())}.\n"
