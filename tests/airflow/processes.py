"""The processes of this machine that an Airflow has started."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

DRIVER = "org.apache.spark.deploy.SparkSubmit"


def processes_of(home: Path) -> dict[int, list[str]]:
    """The command lines of all processes that have this home of Airflow in their environment."""
    mark, found = f"AIRFLOW_HOME={home}".encode(), {}
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if mark in (folder / "environ").read_bytes().split(b"\0"):
                words = (folder / "cmdline").read_bytes().split(b"\0")
                found[int(folder.name)] = [word.decode(errors="replace") for word in words]
    return found


def drivers_of(home: Path) -> list[int]:
    """The Spark drivers that make the steps of runs, the oldest first."""
    return sorted(number for number, words in processes_of(home).items() if DRIVER in words and "--through" in words)


def driver_of(home: Path) -> int | None:
    """The oldest of them."""
    return next(iter(drivers_of(home)), None)
