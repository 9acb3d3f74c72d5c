"""Where rows or values are missing: the share of each source partition, as plain values.

Numbers are exact. Partitions are listed up to `MOST`, those where most is missing first.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Share:
    """How many rows of a source partition, or of a file where a source has no partitions, of how many.

    Where rows are counted, `of` are all rows that were judged. Where values are missing, `rows` are those without one,
    and `of` those of the partition. `newest` is the event time, in ISO 8601, of the newest row that a partition ever
    had, if none of its rows is here.
    """

    rows: int
    of: int
    partition: str | None = None
    file: str | None = None
    newest: str | None = None

    @property
    def name(self) -> str | None:
        """`partition 3`, or the file."""
        return self.file if self.partition is None else f"partition {self.partition}"

    @property
    def percent(self) -> float:
        return 100 * self.rows / self.of if self.of else 0.0


@dataclass(frozen=True)
class Shares:
    """The shares of a source's partitions: `number` are all, `first` those that are listed."""

    number: int
    first: tuple[Share, ...]

    def to_mapping(self) -> dict[str, Any]:
        """As plain values for JSON."""
        return asdict(self)

    @classmethod
    def from_mapping(cls, mapping: Mapping[str, Any]) -> Shares:
        """What `to_mapping` wrote."""
        return cls(mapping["number"], tuple(Share(**one) for one in mapping["first"]))
