"""Rows of a table that go, or become other ones, in one commit: the files that have some are written again.

Delta's DELETE, UPDATE and MERGE do the same, but their commit says by which condition, and of each removed file the
least and greatest values that it had. Here nothing of what has gone stands in the log.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from urllib.parse import unquote

from pyspark.sql import DataFrame, SparkSession

from windrow.compile.sql.columns import call, col, lit, quoted
from windrow.engine.frames import where, with_column
from windrow.store.delta.commit_files import LiveFile
from windrow.store.delta.location import Location
from windrow.store.delta.retries import ATTEMPTS, StepTaken
from windrow.store.delta.transactions import CONFLICTS, Appender

GOES = "_goes"
"""The column that says of a row whether it goes."""
_FILE = "_file"


@dataclass(frozen=True)
class Rewrite:
    """Which rows of a table go, and what they become.

    `tells` gives rows with all of their columns and `GOES`, true, false or null. `becomes` gives the rows that are in
    place of those that go, with the same columns; None where there are none.
    """

    tells: Callable[[DataFrame], DataFrame]
    becomes: Callable[[DataFrame], DataFrame] | None = None


def rewrite(append: Appender, location: Location, change: Rewrite) -> int:
    """Have a commit change the rows; the number of files that it removes. Raises VersionTaken."""
    live = append.live()
    if not live:
        return 0
    depth = live[0].file.path.count("/")
    by_path = {one.file.path: one for one in live}
    rows = _rows(append, location, live).selectExpr("*", f"_metadata.file_path AS {_FILE}")
    going = where(change.tells(rows), col(GOES)).select(_FILE).distinct().collect()
    files = [by_path["/".join(unquote(row[_FILE]).split("/")[-depth - 1 :])] for row in going]
    if not files:
        return 0
    told = change.tells(_rows(append, location, files))
    goes = call("coalesce", col(GOES), lit(False))
    kept = where(told, ~goes)
    if change.becomes is not None:
        others = change.becomes(where(told, goes).drop(GOES))
        kept = kept.drop(GOES).unionByName(others)
    append.remove(files)
    append.write(kept.select(*[quoted(name) for name in append.schema.names]))
    return len(files)


def rewrite_once(spark: SparkSession, location: Location, change: Rewrite) -> int:
    """Change the rows of a table that has no steps, or in a commit that is none; again where others write.

    Gives the number of files that were removed. Raises StepTaken where others were ahead each time.
    """
    for _ in range(ATTEMPTS):
        append = Appender(spark, location.path)
        if append.version < 0:
            return 0
        with suppress(*CONFLICTS):
            removed = rewrite(append, location, change)
            if removed:
                append.commit(_APP, append.version + 1, "")
            return removed
    raise StepTaken(location.path, 0, None)


def with_goes(rows: DataFrame, others: DataFrame, on: Sequence[str]) -> DataFrame:
    """The rows with `GOES`: whether there is one of the others that is equal in these columns, which are dropped.

    The columns are not null where a row may go.
    """
    found = with_column(others.select(*on).distinct(), GOES, lit(True))
    return rows.join(found, on=list(on), how="left").drop(*on)


_APP = "windrow-rewrite"


def _rows(append: Appender, location: Location, files: Sequence[LiveFile]) -> DataFrame:
    paths = [f"{location.path}/{one.file.path}" for one in files]
    reader = append.spark.read.schema(append.schema).option("basePath", location.path)
    return reader.parquet(*paths)
