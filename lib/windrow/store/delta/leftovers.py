"""Folders in which nothing has been written for a while, for whoever deletes what a process that died has left."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from pyspark.sql import SparkSession

from windrow.store.delta.file_system import hadoop
from windrow.store.delta.location import Location


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
        if status.isDirectory() and all(1000 * file.getModificationTime() < before for file in found):
            name = status.getPath().getName()
            yield Leftover(Location(f"{folder.path}/{name}"), len(found), sum(file.getLen() for file in found))


def _files(system: Any, folder: Any) -> Iterator[Any]:
    files = system.listFiles(folder, True)
    while files.hasNext():
        yield files.next()
