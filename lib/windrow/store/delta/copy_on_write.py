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
from windrow.engine.frames import in_tasks, where, with_column
from windrow.spec.errors import NotInThisVersion
from windrow.store.delta.location import Location
from windrow.store.delta.log.commit_files import AddedFile, CommitFiles
from windrow.store.delta.log.commits import repeating
from windrow.store.delta.log.retries import ATTEMPTS, StepTaken
from windrow.store.delta.log.transactions import CONFLICTS, Appender

GOES = "_goes"
"""The column that says of a row whether it goes."""
_FILE = "_file"
_APP = "windrow-rewrite"


@dataclass(frozen=True)
class Rewrite:
    """Which rows of a table go, and what they become.

    `tells` gives rows with all of their columns and `GOES`, true, false or null. `becomes` gives the rows that are in
    place of those that go, with the same columns; None where there are none.
    """

    tells: Callable[[DataFrame], DataFrame]
    becomes: Callable[[DataFrame], DataFrame] | None = None


def rewrite(append: Appender, location: Location, change: Rewrite) -> int:
    """Have a commit change the rows; the number of files that it removes.

    Raises VersionTaken, and NotInThisVersion where only Delta may change rows of the table.
    """
    live = append.live()
    if live is None:
        raise _only_by_delta(location)
    if not live:
        return 0
    depth = live[0].path.count("/")
    by_path = {file.path: file for file in live}
    rows = rows_of(append, location, live).selectExpr("*", f"_metadata.file_path AS {_FILE}")
    going = where(change.tells(rows), col(GOES)).select(_FILE).distinct().collect()
    files = [by_path["/".join(unquote(row[_FILE]).split("/")[-depth - 1 :])] for row in going]
    if not files:
        return 0
    told = change.tells(rows_of(append, location, files))
    goes = call("coalesce", col(GOES), lit(False))
    kept = where(told, ~goes)
    if change.becomes is not None:
        others = change.becomes(where(told, goes).drop(GOES))
        kept = kept.drop(GOES).unionByName(others)
    append.remove(files)
    append.write(in_tasks(kept.select(*map(quoted, append.schema.names))))
    return len(files)


def rewrite_once(
    spark: SparkSession, location: Location, change: Rewrite, applies: Callable[[], bool] = lambda: True
) -> int:
    """Change the rows of a table that has no steps, or in a commit that is none; again where others write.

    It `applies` to the table as it is then, or nothing is done. Gives the number of files that were removed. Raises
    StepTaken where others were ahead each time, and NotInThisVersion as `rewrite` does.
    """
    for _ in range(ATTEMPTS):
        append = Appender(spark, location.path)
        if append.version < 0 or not applies():
            return 0
        with suppress(*CONFLICTS):
            try:
                removed = rewrite(append, location, change)
                if removed:
                    append.commit(_APP, append.version + 1, repeating(CommitFiles(spark, location.path)))
            finally:
                append.discard()
            return removed
    raise StepTaken(location.path, 0, None)


def check_rewritable(spark: SparkSession, location: Location) -> None:
    """Raises NotInThisVersion where only Delta may change rows of the table, if there is one."""
    append = Appender(spark, location.path)
    if append.version >= 0 and not append.may_remove:
        raise _only_by_delta(location)


def rows_of(append: Appender, location: Location, files: Sequence[AddedFile]) -> DataFrame:
    """The rows of files of the table, with its columns; one that a file has not is null."""
    paths = [f"{location.path}/{file.path}" for file in files]
    reader = append.spark.read.schema(append.schema).option("basePath", location.path)
    return reader.parquet(*paths)


def with_goes(rows: DataFrame, others: DataFrame, on: Sequence[str]) -> DataFrame:
    """The rows with `GOES`: whether there is one of the others that is equal in these columns, which are dropped.

    The columns are not null where a row may go.
    """
    found = with_column(others.select(*on).distinct(), GOES, lit(True))
    return rows.join(found, on=list(on), how="left").drop(*on)


def _only_by_delta(location: Location) -> NotInThisVersion:
    rule = "has a property or feature with which only Delta may change its rows, and that would write values in its log"
    hint = "unset delta.enableChangeDataFeed and delta.appendOnly, and drop features such as row tracking"
    return NotInThisVersion(location.path, rule, None, hint)
