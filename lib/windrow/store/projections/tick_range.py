"""The ticks that a projection has yet to apply, and the rows of the journal that they left."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pyspark.sql import DataFrame, SparkSession

from windrow.compile.panes.log_rows import PANE
from windrow.store.delta.log.commit_files import AddedFile
from windrow.store.journal.control import Control
from windrow.store.journal.journal import Journal


@dataclass(frozen=True)
class TickRange:
    """Ticks that one write applies, by their control rows.

    `fresh` says that the table holds another generation, so that the write puts them in place of all; `is_first` that
    it holds nothing yet.
    """

    journal: Journal
    controls: Mapping[int, Control]
    fresh: bool
    is_first: bool = False

    @property
    def after(self) -> int:
        return min(self.controls) - 1

    @property
    def until(self) -> int:
        return max(self.controls)

    @property
    def has_panes(self) -> bool:
        return any(one.counters.panes or one.counters.retractions for one in self.controls.values())

    @property
    def shown(self) -> int:
        """How many panes and retractions the ticks have."""
        return sum(one.counters.panes + one.counters.retractions for one in self.controls.values())

    @property
    def retracts(self) -> bool:
        return any(one.counters.retractions for one in self.controls.values())

    @property
    def changes(self) -> bool:
        """Whether some pane changes what was shown, so that not all are inserted."""
        return any(one.rows.changed for one in self.controls.values())

    @property
    def has_letters(self) -> bool:
        return any(one.counters.dead_letters for one in self.controls.values())

    @property
    def starts(self) -> tuple[int, int] | None:
        """The first and last start of windows with panes; None without one, or where that is not known of all."""
        rows = [one.rows for one in self.controls.values() if one.counters.panes or one.counters.retractions]
        first = [one.first_start for one in rows if one.first_start is not None]
        last = [one.last_start for one in rows if one.last_start is not None]
        return (min(first), max(last)) if rows and len(rows) == len(first) == len(last) else None

    def rows(self, spark: SparkSession, kind: str) -> DataFrame:
        """The rows of that kind which the ticks left."""
        return self.journal.rows(spark, self.after, self.until, kind)

    def panes(self, spark: SparkSession) -> DataFrame:
        """The panes and retractions of the ticks, with the columns of the table `panes` and others."""
        return self.rows(spark, PANE)

    def files_of_panes(self, spark: SparkSession) -> list[AddedFile] | None:
        """The files that hold them; None where they may be gone, or are too large to be copied by one process."""
        files = self.journal.log.files(spark, self.after, self.until, PANE)
        return None if files is None or sum(file.size for file in files) > COPIED_AT_MOST else files


COPIED_AT_MOST = 1 << 30
"""Bytes of files that are copied: of more Spark writes the rows once more, by all of its executors."""
