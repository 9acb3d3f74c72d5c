"""Delta tables: the rows that are appended to one, or every change of its feed."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Literal

from windrow.spec.fields.kinds import FLAG, POSITIVE_INTEGER, TEXT, choice
from windrow.spec.fields.reading import Kind
from windrow.spec.fields.typed import Converted, converted, plain, specification
from windrow.spec.sources.connector import Connector
from windrow.spec.words import many

WEIGHT = "_weight"
"""The column of a change feed that says whether a row is added, +1, or taken back, -1."""


class DeltaChanges(StrEnum):
    """What a Delta table gives: the rows that are appended to it, or every change, with its weight."""

    APPEND = "append"
    FEED = "feed"


DeltaChangesLike = DeltaChanges | Literal["append", "feed"]
DELTA_CHANGES: Kind[DeltaChanges, DeltaChangesLike] = choice(
    DeltaChanges, {"cdf": "feed", "changes": "feed", "upsert": "feed"}
)


@specification
class DeltaSource(Connector):
    """A Delta table: the rows that it holds at first, then those that are appended, or every change of its feed.

    The rows of a feed have a column `_weight`: -1 takes back the row as it was, in an update or a delete. A landing
    batch takes at most `max_files_per_batch` of the table's files; the changes of one version stay together. The table
    is read in place, as the log that it is, unless `copy` says that its rows are copied into the lake.
    """

    NAME = "delta"
    PATH = "path"
    MAY_BE_IN_LAKE = True
    NOTES_END = True
    YAML_HINTS = {"table": "path", "max_files_per_trigger": "max_files_per_batch"}

    path: str = plain(TEXT)
    changes: Converted[DeltaChanges, DeltaChangesLike] = converted(DELTA_CHANGES, default=DeltaChanges.APPEND)
    max_files_per_batch: int = plain(POSITIVE_INTEGER, default=1000)
    copy: bool = plain(FLAG, default=False)

    @property
    def is_in_place(self) -> bool:
        return not self.copy

    @property
    def is_feed(self) -> bool:
        return self.changes is DeltaChanges.FEED

    @property
    def beside(self) -> Mapping[str, str]:
        return {WEIGHT: "int"} if self.is_feed else {}

    @property
    def weight(self) -> str | None:
        return WEIGHT if self.is_feed else None

    def words(self) -> str:
        batch = many(self.max_files_per_batch, "file")
        what = "every change of" if self.is_feed else "what is appended to"
        where = "copied into the lake" if self.copy else "read in place, so nothing is copied"
        return f"{what} the Delta table {self.path}, {where}; a landing batch takes at most {batch}"

    def kind_words(self) -> str:
        return "changes of a Delta table" if self.is_feed else "Delta table"
