"""Write docs/benchmark.md, with its plots, from what the benches have measured: ratios only.

    make bench-page     or     python -m bench.page [--out out] [--docs docs]

Reads out/nexmark.json, out/bench.json and out/growth.json, those that are there.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from bench.plots import machine_line, plain, plt, saved, table

Measured = Mapping[str, Any]
_INTRODUCTION = """# Benchmark

Made by `make bench-page` from one run of the benches on one machine. Seconds of two machines cannot be compared, so
there are only ratios of what ran in turns, in medians. A speed of 2 means that windrow needs half the time. Axes of
ratios and sizes are logarithmic.
"""
_NEXMARK = """## Nexmark

`make nexmark`: five queries over the same files, {title}. The results of everybody are compared row for row with those
of DuckDB over these files; those that go to Flink's blackhole cannot be.

- windrow goes from the files to `current`: it judges and counts each row, keeps journal, panes and dead letters, and
  ends all windows at the end. Its tables can be corrected later; those of the others cannot. It reads the files in
  place (`copy: false`), as the others do, who copy no row either.
- Spark goes from the files to a Delta table, in append mode, with its default state store. It reads one more event of
  each kind, an hour later, because its watermark does not move when the files end.
- Flink reads the same lines, joined into a file a reader, because its file source takes files in no order.
- If several items or bids of a window tie, one of them counts, the same for everybody. The windows of q12 are windows
  of event time; in Nexmark they are windows of processing time, of which no two runs have the same.
"""
_SPARK = """## Beside Spark

`make bench`: {rows:,} rows, {keys:,} keys, {batches} batches, 10-minute windows. Where the name does not say that it
begins with files, both read the same landed rows. A *time* is how many times as long something takes.
"""
_GROWTH = """## How a tick grows

`make bench ARGS="--only growth"`: the time of a tick of a stage that shows every change, until its panes can be read
and with all its tables projected, beside a micro-batch of Spark's aggregation with a MERGE over the same landed rows.
All are relative to windrow's tick, in all, at the smallest size.
"""
_WHAT = {
    "closed history": "rows of windows that have expired",
    "open cells": "open cells, few of which a tick touches",
    "rows of a tick": "rows of a tick",
    "cores": "cores",
}


def main(arguments: Sequence[str] | None = None) -> None:
    """Read what was measured, and write the page."""
    parser = argparse.ArgumentParser(prog="python -m bench.page", description="Write docs/benchmark.md.")
    parser.add_argument("--out", type=Path, default=Path("out"), help="the folder with what was measured")
    parser.add_argument("--docs", type=Path, default=Path("docs"), help="the folder of the page")
    options = parser.parse_args(arguments)
    found = {name: _read(options.out / f"{name}.json") for name in ("nexmark", "bench", "growth")}
    if not any(found.values()):
        parser.error(f"there is nothing in {options.out}: run `make nexmark` or `make bench` first")
    print(write(found, options.docs))


def write(found: Mapping[str, Measured | None], docs: Path) -> Path:
    """The page and its plots, of what is there; the path of the page."""
    (docs / "drawings").mkdir(parents=True, exist_ok=True)
    parts = [_INTRODUCTION]
    for name, section in (("nexmark", _nexmark), ("bench", _spark), ("growth", _growth)):
        measured = found.get(name)
        if measured is not None:
            parts += [*section(measured, docs), machine_line(measured["machine"])]
    page = docs / "benchmark.md"
    page.write_text("\n".join(parts))
    return page


def _read(path: Path) -> Measured | None:
    return json.loads(path.read_text()) if path.exists() else None


# ---------------------------------------------------------------- Nexmark


def _nexmark(measured: Measured, docs: Path) -> Iterator[str]:
    speeds: dict[str, dict[str, float]] = {}
    for name, ratio in measured["ratios"].items():
        query, other = name.removeprefix("speed: ").split(" windrow / ")
        speeds.setdefault(query, {})[other] = ratio["value"]
    others = list(dict.fromkeys(other for row in speeds.values() for other in row))

    def draw(axes: Axes) -> None:
        for other in others:
            there = [(row[other], query) for query, row in speeds.items() if other in row]
            axes.plot([one for one, _ in there], [query for _, query in there], "o", label=other)
        axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1), ncols=3, fontsize="small")
        axes.invert_yaxis()

    _plot(docs, "nexmark", draw, "speed of windrow, in that of the other", 0.6 * len(speeds) + 1.6)
    yield _NEXMARK.format(title=measured["scale"]["title"])
    rows = [
        [f"{query}: {measured['queries'][query]}", *(_number(row.get(other)) for other in others)]
        for query, row in speeds.items()
    ]
    yield table(["query", *(f"windrow / {other}" for other in others)], rows)
    yield _image("nexmark", "How fast windrow is in each query, in the speed of the others")
    yield table(["compared with DuckDB", "result"], [[_code(name), one] for name, one in measured["checks"].items()])


# ---------------------------------------------------------------- ratios


def _spark(measured: Measured, docs: Path) -> Iterator[str]:
    compared = {name: ratio for name, ratio in measured["ratios"].items() if not name.startswith("seconds")}

    def draw(axes: Axes) -> None:
        for kind in ("speed", "time"):
            there = {name: ratio["value"] for name, ratio in compared.items() if name.startswith(kind)}
            axes.plot(list(there.values()), list(there), "o", label=kind)
        axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1), ncols=3, fontsize="small")
        axes.invert_yaxis()

    _plot(docs, "spark", draw, "ratio", 0.3 * len(compared) + 1.2)
    yield _SPARK.format(**measured["scale"])
    yield table(["what", "ratio"], [[_code(name), _number(ratio["value"])] for name, ratio in compared.items()])
    yield _image("spark", "How fast windrow is beside Spark, and how long it takes")


# ---------------------------------------------------------------- growth


def _growth(measured: Measured, docs: Path) -> Iterator[str]:
    lines = measured["lines"]
    figure, grid = plt.subplots(len(lines), 1, figsize=(7, 2.8 * len(lines)))
    rows = []
    for axes, (name, line) in zip([grid] if len(lines) == 1 else list(grid), lines.items(), strict=True):
        panes, ours, theirs = ([median(seconds) / median(line["windrow"][0]) for seconds in line[who]] for who in
                               ("panes", "windrow", "spark"))  # fmt: skip
        axes.plot(line["sizes"], ours, "o-", label="windrow, in all")
        axes.plot(line["sizes"], panes, "o:", label="windrow, to a pane")
        axes.plot(line["sizes"], theirs, "s--", label="Spark and MERGE")
        axes.set(xscale="log", yscale="log", xlabel=_WHAT[name], ylabel="time")
        plain(axes)
        axes.legend()
        rows += [
            [_WHAT[name], f"{size:,}", _number(to_pane), _number(one), _number(other), _number(other / one)]
            for size, to_pane, one, other in zip(line["sizes"], panes, ours, theirs, strict=True)
        ]
    _save(figure, docs, "growth")
    yield _GROWTH
    columns = ["what grows", "to", "windrow: time to a pane", "in all", "Spark: time", "speed: in all / Spark"]
    yield table(columns, rows)
    yield _image("growth", "How the time of a tick grows")


# ---------------------------------------------------------------- plots


def _plot(docs: Path, name: str, draw: Callable[[Axes], None], label: str, height: float) -> None:
    """A plot of ratios on a logarithmic axis, with a line at 1."""
    figure, axes = plt.subplots(figsize=(8, height))
    draw(axes)
    axes.axvline(1, color="grey", linewidth=1)
    axes.set(xscale="log", xlabel=label)
    plain(axes)
    _save(figure, docs, name)


def _save(figure: Figure, docs: Path, name: str) -> None:
    saved(figure, docs / "drawings" / f"benchmark-{name}.svg")


def _image(name: str, text: str) -> str:
    return f"![{text}](drawings/benchmark-{name}.svg)\n"


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"


def _code(name: str) -> str:
    return name.replace("|", "\\|")


if __name__ == "__main__":
    main()
