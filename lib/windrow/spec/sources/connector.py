"""What every connector says of itself: what a source reads, and the columns that come with its rows."""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, ClassVar, Self

from windrow.spec.fields.reading import Spec
from windrow.spec.sources.datasets import Dataset, dataset_at

_GLOB = re.compile(r"[*?\[\]{}]")


def is_glob(path: str) -> bool:
    """Whether Hadoop takes a path as a pattern of many."""
    return _GLOB.search(path) is not None


class Connector(Spec):
    """What a source reads from. `NAME` is its field in a source.

    `COLUMNS` are columns that its rows have beside those of the schema, with their types, and `SCHEMA` the only ones
    that a schema may have. `HAS_PARTITIONS`: whether it says itself which source partition a row is of; `HAS_FILES`:
    whether rows come from files. `FINGERPRINT` names the fields whose change makes other rows. `PATH` is the field
    with the path that it reads, where it has one, and `MAY_BE_IN_LAKE` is true where that may be inside of a lake.
    `NOTES_END`: whether a landing commit has to say where its batch has ended, as rows that landed do not tell.
    """

    NAME: ClassVar[str]
    COLUMNS: ClassVar[Mapping[str, str]] = {}
    SCHEMA: ClassVar[Mapping[str, str] | None] = None
    HAS_PARTITIONS: ClassVar[bool] = False
    HAS_FILES: ClassVar[bool] = True
    FINGERPRINT: ClassVar[tuple[str, ...]] = ()
    PATH: ClassVar[str | None] = None
    MAY_BE_IN_LAKE: ClassVar[bool] = False
    NOTES_END: ClassVar[bool] = False

    def check(self) -> None:
        """Refuse fields that do not go together. Errors: SpecError."""

    @abstractmethod
    def words(self) -> str:
        """What is read, and how much of it a landing batch takes, as `windrow plan` says it."""

    @abstractmethod
    def kind_words(self) -> str:
        """What is read, in a few words."""

    @property
    def beside(self) -> Mapping[str, str]:
        """The columns that its rows have beside those of the schema, with their types."""
        return self.COLUMNS

    @property
    def weight(self) -> str | None:
        """The column that says whether a row is added or taken back, where the connector itself knows it."""
        return None

    @property
    def is_in_place(self) -> bool:
        """Whether what it reads is a log itself, so that its rows are read there and not copied."""
        return False

    @property
    def has_json(self) -> bool:
        """Whether its rows are JSON objects, which may have fields that no schema names."""
        return False

    @property
    def has_names(self) -> bool:
        """Whether its rows say which of their values is that of which column, so that a column may have other names."""
        return True

    @property
    def fingerprint(self) -> dict[str, Any]:
        """The fields that make other rows, in their YAML form."""
        return {name: str(getattr(self, name)) for name in self.FINGERPRINT}

    @property
    def location(self) -> str | None:
        """The path that it reads, as it was written; None where it reads none."""
        return None if self.PATH is None else str(getattr(self, self.PATH))

    def dataset(self, resolve: Callable[[str], str]) -> Dataset:
        """Its name in lineage. `resolve` puts in what the environment holds."""
        return Dataset("windrow", self.NAME) if self.location is None else dataset_at(resolve(self.location))

    def located(self, under: Callable[[str], str]) -> Self:
        """The connector whose path starts where that function says."""
        if self.PATH is None:
            return self
        own: Any = self
        moved: Self = replace(own, **{self.PATH: under(getattr(self, self.PATH))})
        return moved
