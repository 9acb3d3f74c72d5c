"""docs/scale.md, with its plots, of what `make scale` and `make soak` have measured."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from bench.plots import machine_line, plain, plt, saved, table
from bench.scale import words
from bench.scale.formulas import UNITS, Costs, has_enough
from bench.scale.needs import MOST_CORES, Load, year_of
from bench.soak.drawing import drawn
from windrow.engine.partitions import partitions_for
from windrow.spec.times import SECOND, format_duration

Measured = Mapping[str, Any]
ROWS_A_DAY, OPEN_CELLS = 1e9, 1e7
PACES = (10, 60, 300, 900, 3600)
"""Seconds between two ticks."""
CORES = 64
_PARTS = {
    "opening": "opening the lake", "landing": "landing a file", "listing": "each tenth landing",
    "tick": "tick, to its panes",
    "tables": "the tables behind it", "refresh": "`current`", "status": "`windrow status`",
}  # fmt: skip


def written(out: Path, docs: Path) -> Path:
    """Write the page of what is there, and its drawings. What has not been measured is named on it."""
    costs, history, soak = (_read(out / f"{name}.json") for name in ("costs", "history", "soak"))
    if costs is not None and not has_enough(costs["points"]):
        costs = None
    parts = [words.INTRODUCTION]
    missing = [what for what, found in zip(words.PARTS, (costs, history, soak), strict=True) if found is None]
    if missing:
        parts.append(words.MISSING.format(what="; ".join(missing)))
    if costs is not None:
        parts += [*_costs(costs), *_needs(costs), *_year(costs)]
    if history is not None:
        parts += _history(history, docs)
    if soak is not None:
        parts += _soak(soak, docs)
    page = docs / "scale.md"
    page.write_text("\n".join([*parts, words.BREAKS, table(["what", "breaks when", "what to do"], words.LIMITS)]))
    return page


def _read(path: Path) -> Measured | None:
    return json.loads(path.read_text()) if path.exists() else None


# ---------------------------------------------------------------- costs


def _costs(measured: Measured) -> Iterator[str]:
    costs = Costs.of(measured["points"])
    yield words.COSTS
    units = list(dict.fromkeys(unit for of_step in UNITS.values() for unit in of_step))
    rows = []
    for step, formula in costs.formulas.items():
        each = [_figure(formula.each[unit] * _PER[unit]) if unit in formula.each else "" for unit in units]
        rows.append([words.STEPS[step], f"{formula.fixed:.2f}", *each])
    yield table(["step", "fixed, s", *(words.UNITS[unit] for unit in units)], rows)
    fitted = [point["point"] for point in measured["points"] if not point["checks"]]
    sizes = {unit: f"{max(point[unit] for point in fitted):,}" for unit in _SIZES}
    yield words.CHECKED.format(fitted=len(fitted), **sizes)
    checked = [
        [name, words.STEPS[step], f"{seconds:.2f}", f"{found:.2f}", f"{found / seconds:.2f}"]
        for name, step, seconds, found in costs.checked(measured["points"])
    ]
    yield table(["size", "step", "measured, s", "by the formula, s", "formula / measured"], checked)
    yield machine_line(measured["machine"])


_SIZES = ("rows", "touched", "open")
_PER: Mapping[str, float] = dict.fromkeys(words.UNITS, 1e6) | {"bytes": 1e6 * 1024**2}
"""Seconds of one as they are said: microseconds of one, and of a MiB."""


def _figure(value: float) -> str:
    """With two digits that count."""
    return f"{value:,.0f}" if value >= 10 else f"{value:.2g}"


# ---------------------------------------------------------------- a load


def _needs(measured: Measured) -> Iterator[str]:
    costs = Costs.of(measured["points"])
    yield words.LOAD.format(most=f"{MOST_CORES:,}")
    rows = []
    for pace in PACES:
        load = Load(ROWS_A_DAY, OPEN_CELLS, pace)
        one = [load.cores(costs, copied) for copied in (0.0, load.open_cells)]
        seconds = load.seconds(costs, CORES, 0.0)
        said = ["none" if cores is None else f"{cores:,}" for cores in one]
        rows.append([_every(pace), f"{load.rows:,.0f}", f"{load.touched:,.0f}", f"{seconds:,.1f}", *said])
    names = [
        "a tick every",
        "rows of it",
        "cells of it",
        f"seconds on {CORES} cores",
        "cores",
        "cores, if `current` is copied",
    ]
    yield table(names, rows)


def _every(seconds: float) -> str:
    return format_duration(int(seconds * SECOND))


# ---------------------------------------------------------------- a year


def _year(measured: Measured) -> Iterator[str]:
    fitted = [one for one in measured["points"] if not one["checks"]]
    raw, pane = (max(fitted, key=lambda one, unit=unit: one["point"][unit])["bytes_each"] for unit in _SIZES[:2])
    others = {name: number for name, number in fitted[0]["files"].items() if name not in _BESIDE_PARTITIONS}
    yield words.YEAR.format(files=_listed(others), tables=len(fitted[0]["files"]), cores=CORES)
    rows = []
    for pace in PACES:
        load = Load(ROWS_A_DAY, OPEN_CELLS, pace)
        partitions = partitions_for(round(load.rows + load.open_cells), CORES)
        size = load.rows * raw["raw row"] + load.touched * pane["pane"]
        by_partitions = {name: partitions + more for name, more in _BESIDE_PARTITIONS.items()}
        year = year_of(pace, {**by_partitions, **others}, size)
        numbers = (year.ticks, year.commits, year.files, year.kept_files, year.endless, year.entries)
        rows.append([_every(pace), *(f"{number:,}" for number in numbers)])
    yield table(
        ["a tick every", "ticks", "commits", "data files added", "live files, maintained daily",
         "log entries of a year", "log entries kept"], rows
    )  # fmt: skip


_BESIDE_PARTITIONS = {"journal/1": 1, "panes": 0}
"""Tables with a file for each partition of a tick, and how many more they have: the journal that of the control row."""


def _listed(files: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {number}" for name, number in files.items())


# ---------------------------------------------------------------- histories


def _history(measured: Measured, docs: Path) -> Iterator[str]:
    lengths = measured["lengths"]
    yield words.HISTORY.format(apart=measured["apart"])
    names = ["", *(f"{one['ticks']:,} ticks" for one in lengths)]
    rows = [[name, *(f"{one[field]:,}" for one in lengths)] for field, name in _COUNTS.items()]
    rows += [[f"{name}, s", *(f"{one[field]:.2f}" for one in lengths)] for field, name in _PARTS.items()]
    yield table(names, rows)
    figure, axes = plt.subplots(figsize=(7, 4))
    for field, name in _PARTS.items():
        axes.plot([one["ticks"] for one in lengths], [one[field] for one in lengths], "o-", label=name.replace("`", ""))
    axes.set(xscale="log", xlabel="ticks of the history", ylabel="seconds")
    axes.set_ylim(bottom=0)
    plain(axes)
    axes.legend(fontsize="small", ncols=3, loc="upper center", bbox_to_anchor=(0.5, -0.18), frameon=False)
    saved(figure, docs / "drawings" / "scale-history.svg")
    yield "![What grows with the history of a lake](drawings/scale-history.svg)\n"
    yield machine_line(measured["machine"])


_COUNTS = {"commits": "commits ever made", "entries": "entries of all logs", "files": "live data files"}


# ---------------------------------------------------------------- the soak


def _soak(measured: Measured, docs: Path) -> Iterator[str]:
    drawn(measured, docs / "drawings")
    batches: Sequence[Mapping[str, Any]] = measured["batches"]
    yield words.SOAK.format(
        hours=f"{measured['seconds'] / 3600:g}",
        rows=f"{measured['rows']:,}",
        kills=measured["kills"],
        backfills=sum(one["command"] == "backfill" for one in batches),
        runs=sum(one["command"] == "maintain" for one in batches),
        reads=f"{measured['reads']:,}",
        torn="; ".join(measured["wrong"]) or "nothing",
    )
    grown = [[name, "not known" if share is None else f"{share:+.1%}"] for name, share in measured["growth"].items()]
    yield table(["over the second half, but for its first ten minutes", "grows by"], grown)
    yield machine_line(measured["machine"])
    yield "![The soak, over time](drawings/soak.svg)\n"
