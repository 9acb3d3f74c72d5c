"""Folders in which nothing has been written for a while, for whoever deletes what a process that died has left."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from pyspark.sql import SparkSession

from windrow.store.delta.file_system import hadoop
from windrow.store.delta.location import LOG, Location

_GONE = re.compile(r".+\.gone-[0-9a-f]{12}")
"""The name of a folder that is being deleted (`Location.remove`)."""


@dataclass(frozen=True)
class Leftover:
    """A folder with the number of its files and their bytes."""

    location: Location
    files: int
    bytes: int


def leftovers(spark: SparkSession, folder: Location, before: int) -> Iterator[Leftover]:
    """The folders in a folder in whose files nothing was written at that time or later, in microseconds."""
    system, place = hadoop(spark, folder.path)
    if not system.exists(place):
        return
    for status in system.listStatus(place):
        found = list(_files(system, status.getPath()))
        times = [file.getModificationTime() for file in found or _folders(system, status)]
        if status.isDirectory() and 1000 * max(times, default=0) < before:
            name = status.getPath().getName()
            yield Leftover(Location(f"{folder.path}/{name}"), len(found), sum(file.getLen() for file in found))


def half_removed(spark: SparkSession, folder: Location) -> Iterator[str]:
    """The paths of folders, within this one, that a process was about to delete when it died; not within tables."""
    system, place = hadoop(spark, folder.path)
    if not system.exists(place):
        return
    for status in system.listStatus(place):
        name = status.getPath().getName()
        path = f"{folder.path}/{name}"
        if not status.isDirectory() or name == LOG:
            continue
        if _GONE.fullmatch(name):
            yield path
        elif not system.exists(hadoop(spark, f"{path}/{LOG}")[1]):
            yield from half_removed(spark, Location(path))


def _folders(system: Any, status: Any) -> Iterator[Any]:
    """A folder, and those within it: where there is no file yet, they say when somebody was at work."""
    yield status
    for one in system.listStatus(status.getPath()):
        if one.isDirectory():
            yield from _folders(system, one)


def _files(system: Any, folder: Any) -> Iterator[Any]:
    files = system.listFiles(folder, True)
    while files.hasNext():
        yield files.next()
