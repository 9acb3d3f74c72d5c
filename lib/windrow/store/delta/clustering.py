"""The rows of a large table in an order by which a query of a week, or of one key, reads few of its files.

Delta's Z-order: files are small boxes in the space of some columns, and say by their least and greatest values which.
It rewrites the whole table, so it waits until half of it is new. In between the new files hold the ticks of a short
time each, so they are narrow in window time by themselves; a MERGE of late corrections, or compaction, may widen them.

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

from windrow.compile.sql.columns import Column, bigint, call, col, lit
from windrow.engine.frames import group, select, where
from windrow.store.delta.location import Location
from windrow.store.delta.log_store import newest_snapshot
from windrow.store.delta.upkeep import is_done

FILE_SIZE = "spark.databricks.delta.optimize.maxFileSize"
"""The setting that says how large a file becomes, in bytes."""
MOST_COLUMNS = 4
"""With more of them a box is wide in each."""
_LOOK_BACK = 1000
"""How many commits are looked at for the last Z-order; without one the whole table is new."""
_WITHOUT_ORDER = (ArrayType, MapType, StructType, VariantType)


@dataclass(frozen=True)
class Clustering:
    """Of the table at a location, by these columns as far as they have an order."""

    spark: SparkSession
    location: Location
    columns: Sequence[str]

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
        last = self._last()
        is_new = Column("true") if last is None else col("modificationTime") > bigint(last)
        size, new = col("size"), call("if", is_new, col("size"), 0)
        sums = {"bytes": call("sum", size), "new": call("sum", new)}
        (found,) = group(self._files(), (), sums).collect()
        return bool(2 * found["new"] >= found["bytes"])

    def cluster(self) -> bool:
        """Put the rows into that order; False where other writers were in the way each time."""
        table = self.location.table(self.spark)
        return is_done(self.spark, self.location, lambda: table.optimize().executeZOrderBy(*self.by))

    def _files(self) -> DataFrame:
        """The live files of the table, with `size` in bytes and `modificationTime` in milliseconds."""
        return DataFrame(self._snapshot().allFiles().toDF(), self.spark)

    def _snapshot(self) -> Any:
        return newest_snapshot(self.spark, self.location.path)

    def _last(self) -> int | None:
        """When it was done last, in milliseconds."""
        history = self.location.table(self.spark).history(_LOOK_BACK)
        ordered = Column("element_at(operationParameters, 'zOrderBy')")
        done = where(where(history, col("operation") == "OPTIMIZE"), ordered != lit("[]"))
        times = select(done, {"at": call("unix_millis", col("timestamp"))})
        found: int | None = group(times, (), {"at": call("max", col("at"))}).collect()[0]["at"]
        return found
