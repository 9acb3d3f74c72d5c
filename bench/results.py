"""What every bench measures and says: seconds by name, ratios of them, and the machine; as tables and as JSON."""

from __future__ import annotations

import json
import os
import platform
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from statistics import median
from typing import Any

from pyspark.sql import SparkSession
from rich.console import Console
from rich.table import Table


@dataclass
class Results:
    """Seconds of every round over all rows, and of every small tick, by name; `store` is Spark's faster one."""

    store: str = ""
    rounds: dict[str, list[float]] = field(default_factory=dict)
    small: dict[str, list[float]] = field(default_factory=dict)

    def median(self, name: str) -> float:
        return median(self.rounds[name] if name in self.rounds else self.small[name])

    def timed(self, spark: SparkSession, name: str, work: Callable[[], Any]) -> Any:
        """Do the work once, on a heap without what was left by others; its seconds are one round of this name."""
        spark._jvm.java.lang.System.gc()  # type: ignore[union-attr]
        started = time.monotonic()
        made = work()
        self.took(name, time.monotonic() - started)
        return made

    def took(self, name: str, seconds: float) -> None:
        """One more round of this name."""
        self.rounds.setdefault(name, []).append(seconds)
        print(f"{seconds:8.2f} s  {name}", file=sys.stderr, flush=True)


@dataclass(frozen=True)
class Ratio:
    """What is compared, and what it should be: at least, or at most, `goal`."""

    name: str
    value: float
    goal: float | None = None
    at_most: bool = False

    @property
    def met(self) -> bool | None:
        if self.goal is None:
            return None
        return self.value <= self.goal if self.at_most else self.value >= self.goal


def computer() -> dict[str, Any]:
    """What can be said of a machine without Spark."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return {"processor": _processor(), "GiB of memory": round(memory / 2**30)}


def machine_of(spark: SparkSession) -> dict[str, Any]:
    """What was measured on, and with which versions."""
    return {
        **computer(),
        "cores": spark.sparkContext.defaultParallelism,
        "shuffle partitions": spark.conf.get("spark.sql.shuffle.partitions"),
        "Java": spark._jvm.java.lang.System.getProperty("java.version"),  # type: ignore[union-attr]
        "Spark": version("pyspark"),
        "Delta": version("delta-spark"),
        "windrow": version("windrow"),
    }


def _processor() -> str:
    """The model, where Linux says it."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    models = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return models[0] if models else platform.machine()


def console_for(machine: Mapping[str, Any], title: str) -> Console:
    """A console that has printed what was measured, and on what."""
    console = Console(width=120)
    console.print(", ".join(f"{name} {value}" for name, value in machine.items()), highlight=False)
    console.print(title, highlight=False)
    return console


def table_of_rounds(results: Results, rows: int, unit: str = "rows") -> Table:
    """Everybody's seconds, their median, and how many rows a second that is."""
    table = new_table(f"over all {unit}", "seconds", "median s", f"{unit}/s")
    for name, seconds in results.rounds.items():
        middle = results.median(name)
        table.add_row(name, listed(seconds), f"{middle:.2f}", f"{rows / middle:,.0f}")
    return table


def table_of_ratios(ratios: Iterable[Ratio]) -> Table:
    """Ratios beside their goals."""
    table = new_table("ratios of medians", "is", "goal", "met")
    for ratio in ratios:
        goal = "" if ratio.goal is None else f"{'<=' if ratio.at_most else '>='} {ratio.goal:g}"
        table.add_row(ratio.name, f"{ratio.value:.2f}", goal, {None: "", True: "yes", False: "no"}[ratio.met])
    return table


def save_json(path: Path, content: Mapping[str, Any], ratios: Iterable[Ratio] = ()) -> None:
    """Write it all as JSON; seconds, unrounded."""
    compared = {ratio.name: {"value": ratio.value, "goal": ratio.goal, "met": ratio.met} for ratio in ratios}
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_suffix(".part")  # a run that is ended leaves what was there
    beside.write_text(json.dumps({**content, "ratios": compared}, indent=2) + "\n")
    beside.replace(path)


def new_table(first: str, *others: str) -> Table:
    table = Table()
    table.add_column(first)
    for name in others:
        table.add_column(name, justify="right")
    return table


def listed(seconds: list[float]) -> str:
    return "  ".join(f"{one:.2f}" for one in seconds)
