"""What can be asked of the tables of a lake without knowing what reads them. Answers are small, and in Arrow.

`arrow.py` reads with `deltalake`, `spark.py` with Spark, for a lake that only Hadoop can reach. Neither holds a large
table in memory: conditions and columns go into the scan, and groups are counted while it runs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol

from windrow.store.delta.file_system import FileState
from windrow.store.delta.location import Location

if TYPE_CHECKING:
    import pyarrow as pa  # type: ignore[import-untyped]

NUMBER = "n"
"""The column of a group that says how many rows it has."""


@dataclass(frozen=True)
class Condition:
    """A condition on a column, which a null only meets if that is it. A timestamp is compared in microseconds.

    `is no number` is said of texts.
    """

    column: str
    holds: Literal["=", "!=", ">", ">=", "<", "<=", "is known", "is unknown", "is no number"]
    value: int | str = 0


@dataclass(frozen=True)
class Groups:
    """Groups of rows: what they have in common, and what is known of each beside the number of its rows.

    `by`: a struct stands for its fields. `greatest` and `totals` are whole numbers, also where the column has them as
    texts. Each is named as its column.
    """

    by: Sequence[str] = ()
    greatest: Sequence[str] = ()
    totals: Sequence[str] = ()

    @property
    def measures(self) -> Sequence[str]:
        return (*self.greatest, *self.totals)


Kind = Literal["floating", "number", "map", "other"]
"""What a comparison of values has to know of a column; maps cannot be compared."""


class LakeTable(Protocol):
    """A table as it stood when it was opened. Timestamps come as microseconds."""

    def last_step(self, log: str) -> int:
        """The newest step of a log (`StepLog.app_id`) that it is; 0 before the first."""

    def notes(self) -> Mapping[str, Any]:
        """What the commit of its newest step says beside the step; nothing before the first."""

    def stepped_at(self) -> int | None:
        """About when that commit was made, in microseconds; None before the first."""

    def number_of_rows(self) -> int:
        """How many rows it has."""

    def greatest(self, column: str, *conditions: Condition) -> int | None:
        """The greatest value of a column of whole numbers or timestamps in the rows that meet the conditions.

        None where there is none. Of the files only those are read that may have it, and of which Delta does not know.
        """

    def numbers(self, by: str | None, *conditions: Condition) -> Mapping[str | None, int]:
        """How many of the rows that meet the conditions have each text of a column; without a column, all under None.

        No file is read of which Delta knows it: so where all of its rows meet the conditions and have the same text.
        """

    def version(self) -> int:
        """Its version in Delta."""

    def kinds(self) -> Mapping[str, Kind]:
        """Its columns, in order."""

    def types(self) -> Mapping[str, str]:
        """The types of its columns as Spark calls them; of those with parts only that they are such."""

    def properties(self) -> Mapping[str, str]:
        """Those that somebody has set."""

    def oldest_commit(self) -> int:
        """The oldest version whose commit is there."""

    def gone(self, paths: Sequence[str]) -> set[str]:
        """Those of these paths, as they stand in the log, where there is no file any more."""

    def rows(self, columns: Sequence[str], *conditions: Condition) -> Iterator[pa.RecordBatch]:
        """These columns of the rows that meet the conditions."""

    def newest_rows(self, columns: Sequence[str], kind: str, step: str) -> Iterator[pa.RecordBatch]:
        """These columns of the rows that its newest step has added to a log that is partitioned by kind, of one kind.

        `step` is the column that has the step. However long the log is, no other rows are read, unless maintenance has
        removed the file that they were written to.
        """

    def groups(self, wanted: Groups, *conditions: Condition) -> pa.Table:
        """The groups of the rows that meet the conditions, in no order."""


class Tables(Protocol):
    """The tables of a lake."""

    @property
    def quote(self) -> str:
        """What stands on both sides of a name in their SQL."""

    def query(self, sql: str, tables: Mapping[str, Any]) -> pa.Table:
        """What a SELECT gives over opened tables, by the names that it has for them.

        The SQL is what DataFusion and Spark have in common.
        """

    def files(self, paths: Sequence[str]) -> list[FileState | None]:
        """Files that are in no table, by their URIs, as they stand. Errors: NotReadable."""

    def open(self, location: Location) -> LakeTable | None:
        """A table as it stands now; None where there is none. Errors: NotReadable where another reader is needed."""
