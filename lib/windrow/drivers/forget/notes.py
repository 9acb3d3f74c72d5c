"""What is written down of stages before a stage in front of them changes: their affected cells, and the rows that go.

When it has changed, the panes by which they are found are gone. A process that was killed then reads them here.
"""

from __future__ import annotations

from dataclasses import dataclass

from pyspark.sql import DataFrame, SparkSession

from windrow.compile.sql.columns import lit
from windrow.engine.frames import literals
from windrow.store.delta.appends import append_once
from windrow.store.delta.file_system import is_there
from windrow.store.delta.location import Lake, Location

FOLDER = "forgetting"
CELLS_OF, ROWS_OF = "cells", "rows"
KEYED, LETTERS_OF = "keyed", "letters"
"""Cells whose key is the person, and dead letters whose element is of her."""
_LEAVES, _ALL_FOUND = "leaves", "all_found"


@dataclass(frozen=True)
class Noted:
    """The folder of a lake that has it, until all is done."""

    spark: SparkSession
    lake: Lake

    def write(self, stage: str, what: str, frame: DataFrame) -> None:
        """Write down cells, or rows, of a stage; some may be there already."""
        append_once(self.spark, self._table(stage, what), frame, FOLDER)

    def read(self, stage: str, what: str) -> list[DataFrame]:
        """What was written down, as one frame; none where nothing was."""
        table = self._table(stage, what)
        return [table.read(self.spark)] if table.exists(self.spark) else []

    def leave(self) -> None:
        """Write down that results which others are part of stay as they are."""
        self._say(_LEAVES)

    @property
    def leaves(self) -> bool:
        """Whether that was written down."""
        return self._is_said(_LEAVES)

    def say_all_found(self) -> None:
        """Write down that all rows of the person have the reason: from now on nobody has to know whose they are."""
        self._say(_ALL_FOUND)

    @property
    def all_found(self) -> bool:
        """Whether that was written down."""
        return self._is_said(_ALL_FOUND)

    def _say(self, what: str) -> None:
        append_once(self.spark, self._table(what, what), literals(self.spark, [{what: lit(True)}]), FOLDER)

    def _is_said(self, what: str) -> bool:
        return self._table(what, what).exists(self.spark)

    def has(self, stage: str, what: str) -> bool:
        """Whether anything of the kind was written down of a stage."""
        return any(not frame.isEmpty() for frame in self.read(stage, what))

    @property
    def is_there(self) -> bool:
        """Whether anything was written down, and not discarded since."""
        return is_there(self.spark, self.lake.internal(FOLDER).path)

    def discard(self) -> None:
        """Delete it all."""
        self.lake.internal(FOLDER).remove(self.spark)

    def _table(self, stage: str, what: str) -> Location:
        return self.lake.internal(f"{FOLDER}/{stage}-{what}")
