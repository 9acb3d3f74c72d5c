"""What is over: for each log or table, the number below which something of it was removed, or put in order.

A floor is raised before anything is removed, so that it is never too low. That of an order is raised behind it: where
it is too low, a table is put in order once more.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from windrow.compile.sql.columns import bigint, call, col, lit
from windrow.store.delta.location import READABLE, Lake, Location
from windrow.store.reading.tables import Condition, Groups, Tables

if TYPE_CHECKING:  # they are read without Spark too
    from pyspark.sql import SparkSession


@dataclass(frozen=True)
class Floors:
    """The floors of a lake, one row each time that one was raised."""

    location: Location

    @classmethod
    def of(cls, lake: Lake) -> Floors:
        return cls(lake.internal("floors"))

    def get(self, spark: SparkSession, name: str) -> int:
        """The floor of that name; 0 where everything is kept."""
        from windrow.engine.frames import group, where

        if not self.location.exists(spark):
            return 0
        rows = where(self.location.read(spark), col("name") == name)
        floor = group(rows, (), {"floor": call("max", col("floor"))}).collect()[0]["floor"]
        return int(floor or 0)

    def all(self, spark: SparkSession) -> dict[str, int]:
        """Every floor by its name."""
        from windrow.engine.frames import group

        if not self.location.exists(spark):
            return {}
        rows = group(self.location.read(spark), ("name",), {"floor": call("max", col("floor"))}).collect()
        return {row["name"]: row["floor"] for row in rows}

    def read(self, tables: Tables, name: str) -> int:
        """The same for who only looks."""
        table = tables.open(self.location)
        if table is None:
            return 0
        (found,) = table.groups(Groups(greatest=("floor",)), Condition("name", "=", name)).to_pylist()
        return found["floor"] or 0

    def raise_to(self, spark: SparkSession, name: str, floor: int) -> None:
        """Raise a floor; it never comes down."""
        from windrow.engine.frames import literals

        row = {"name": lit(name), "floor": bigint(floor), "at": bigint(time.time_ns() // 1000)}
        writer = literals(spark, [row]).write.format("delta").mode("append")
        for option, value in READABLE.items():
            writer = writer.option(option, value)
        self.location.save(writer)


def journal_floor(stage: str, generation: int) -> str:
    """The tick up to which transitions of a journal were dropped."""
    return f"{stage}/journal/{generation} ticks"


def time_floor(owner: str, table: str) -> str:
    """The event time before which rows of a table were removed."""
    return f"{owner}/{table} times"


def version_floor(table: str) -> str:
    """The oldest version of a table that can be read: older ones have lost files."""
    return f"{table} versions"


def order_floor(table: str) -> str:
    """The time, in milliseconds, up to which the files of a table were put in order."""
    return f"{table} order"
