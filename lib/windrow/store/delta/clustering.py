"""The rows of a large table in an order by which a query of a week, or of one key, reads few of its files.

Delta's Z-order: files are small boxes in the space of some columns, and say by their least and greatest values which.
It rewrites the whole table, so it waits until half of it is new. What is new says a floor: Delta forgets its own
commit of a Z-order behind a few thousand others. In between the new files hold the ticks of a short time each, so they
are narrow in window time by themselves; a MERGE of late corrections, or compaction, may widen them.

Not liquid clustering, though readers that do not know it could read the tables: its columns could not change with the
keys when a new generation takes a table's place, and to switch it on for a table that is there is a change of its
metadata, which makes the commits of a stream at work fail.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import ArrayType, MapType, StructType, VariantType

from windrow.compile.sql.columns import bigint, call, col
from windrow.engine.frames import group
from windrow.store.delta.floors import Floors, order_floor
from windrow.store.delta.location import Location
from windrow.store.delta.log.log_store import newest_snapshot
from windrow.store.delta.upkeep import FILE_SIZE, is_done

MOST_COLUMNS = 4
"""With more of them a box is wide in each."""
_WITHOUT_ORDER = (ArrayType, MapType, StructType, VariantType)


@dataclass(frozen=True)
class Clustering:
    """Of the table of that name at a location, by these columns as far as they have an order."""

    spark: SparkSession
    location: Location
    columns: Sequence[str]
    floors: Floors
    name: str

    @property
    def by(self) -> list[str]:
        """The columns by which it is done."""
        schema = self.location.read(self.spark).schema
        ordered = [name for name in self.columns if not isinstance(schema[name].dataType, _WITHOUT_ORDER)]
        return ordered[:MOST_COLUMNS]

    def is_due(self) -> bool:
        """Whether the table is more than two files' worth, and half of its bytes or more are new."""
        largest = int(self.spark.conf.get(FILE_SIZE) or 0)
        if self._snapshot().sizeInBytes() <= 2 * largest or not self.by:
            return False
        is_new = col("modificationTime") > bigint(self.floors.get(self.spark, order_floor(self.name)))
        sums = {"bytes": call("sum", col("size")), "new": call("sum", call("if", is_new, col("size"), 0))}
        (found,) = group(self._files(), (), sums).collect()
        return bool(2 * found["new"] >= found["bytes"])

    def cluster(self) -> bool:
        """Put the rows into that order; False where another writer was in the way, as what it costs is spent then."""
        table = self.location.table(self.spark)
        done = is_done(self.spark, self.location, lambda: table.optimize().executeZOrderBy(*self.by), attempts=1)
        if done:
            newest = group(self._files(), (), {"at": call("max", col("modificationTime"))}).collect()[0]["at"]
            self.floors.raise_to(self.spark, order_floor(self.name), newest)
        return done

    def _files(self) -> DataFrame:
        """The live files of the table, with `size` in bytes and `modificationTime` in milliseconds."""
        return DataFrame(self._snapshot().allFiles().toDF(), self.spark)

    def _snapshot(self) -> Any:
        return newest_snapshot(self.spark, self.location.path)
