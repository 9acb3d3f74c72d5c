"""Which rows broke an expectation: how many there are, in which files, and the first of them, as plain values.

Numbers are exact. Files, keys and rows are listed up to `MOST` each.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

MOST = 20
"""So many files, keys and rows of an expectation are listed."""


@dataclass(frozen=True)
class BrokenRow:
    """One row: where it is, and its values, as text, in the columns that the expectation is about.

    Of a source: the landing `step` and its `row` there, which identify it in `raw`; `file` is the path of its file, or
    `partition` and `offset` say where it stood in a log. The values of a result are also its keys and its window.
    """

    values: Mapping[str, str | None]
    file: str | None = None
    partition: str | None = None
    offset: str | None = None
    step: int | None = None
    row: int | None = None
    event_time: str | None = None


@dataclass(frozen=True)
class BrokenFile:
    """How many of the rows of a file broke the expectation, of how many that were judged.

    Rows of a log without files are counted by source partition, results by neither.
    """

    file: str | None
    broken: int
    judged: int
    partition: str | None = None

    @property
    def name(self) -> str | None:
        """The file, or `partition 3`."""
        return self.file if self.file is not None or self.partition is None else f"partition {self.partition}"

    @property
    def share(self) -> float:
        """Of the rows that were judged, in percent."""
        return 100 * self.broken / self.judged if self.judged else 0.0


@dataclass(frozen=True)
class RepeatedKey:
    """A key that is there more than once, how often, and the first of its rows in the order of landing."""

    key: Mapping[str, str | None]
    number: int
    rows: tuple[BrokenRow, ...]


@dataclass(frozen=True)
class BrokenRows:
    """The rows that broke one expectation.

    `rows` are as many as there are, in `number_of_files` files; `files` those with the most of them; `first` are rows
    of these. Where keys must be unique, `number_of_keys` are there more than once, and `keys` are those that are there
    most often: `rows` counts all of their rows, and `files` have those that repeat an earlier one.
    """

    rows: int
    number_of_files: int = 0
    files: tuple[BrokenFile, ...] = ()
    first: tuple[BrokenRow, ...] = ()
    number_of_keys: int = 0
    keys: tuple[RepeatedKey, ...] = field(default=())

    def to_mapping(self) -> dict[str, Any]:
        """As plain values for JSON."""
        return asdict(self)

    @classmethod
    def from_mapping(cls, mapping: Mapping[str, Any]) -> BrokenRows:
        """What `to_mapping` wrote."""
        keys = tuple(RepeatedKey(key["key"], key["number"], _rows(key["rows"])) for key in mapping["keys"])
        files = tuple(BrokenFile(**file) for file in mapping["files"])
        return cls(**{**mapping, "files": files, "first": _rows(mapping["first"]), "keys": keys})


def _rows(mappings: Any) -> tuple[BrokenRow, ...]:
    return tuple(BrokenRow(**mapping) for mapping in mappings)
