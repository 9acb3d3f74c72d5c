"""A pipeline that can be asked why a window shows what it shows.

The answer is read from its lake above this layer. Whoever reads it says so here, and nothing of that is imported before
the first question.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_readers: list[Callable[[Any, str, Mapping[str, str] | None, datetime | str | int, Any], Any]] = []


def explain_with(reader: Callable[[Any, str, Mapping[str, str] | None, datetime | str | int, Any], Any]) -> None:
    """Let this function answer from now on."""
    _readers[:] = [reader]


class Explained(Protocol):
    """The life of one window of one key; a notebook shows it as HTML."""

    @property
    def differences(self) -> Any:
        """What the rows say otherwise than the journal, in words."""

    def text(self, width: int) -> str:
        """For a terminal of so many columns."""

    def to_mapping(self) -> dict[str, Any]:
        """For machines."""

    def _repr_html_(self) -> str: ...


class CanBeExplained:
    """The base of a pipeline that can be asked about its windows."""

    def explain(
        self,
        stage: str,
        keys: Mapping[str, str] | None = None,
        at: datetime | str | int = 0,
        spark: SparkSession | None = None,
    ) -> Explained:
        """The life of one window of one key, as `windrow.explain` gives it. Errors: SpecError as there."""
        found: Explained = _readers[0](self, stage, keys, at, spark)
        return found
