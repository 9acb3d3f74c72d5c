"""The cells of a stage that rows of a person are in, and the rows of tables that are of these cells."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce

from pyspark.sql import DataFrame

from windrow.compile.columns import WINDOW_START
from windrow.compile.elements.envelope import ROW, STEP
from windrow.compile.panes.log_rows import CELLS, PANE, cell_identity
from windrow.compile.sql.columns import Column, bigint, call, col, lit, when
from windrow.drivers.retention.cut import WHOLE_FROM
from windrow.engine.frames import group, select, where, with_column
from windrow.spec.stages.keys import LogColumn
from windrow.spec.stages.stage import Stage
from windrow.store.delta.copy_on_write import GOES, with_goes
from windrow.store.journal.control import DEAD_LETTER

ROW_OF = (STEP, ROW)
"""What identifies a row of what a stage reads."""
LETTER = ("tick", "source", "element")
"""What identifies a dead letter in the table: those that are equal in it are of equal rows."""


@dataclass(frozen=True)
class Affected:
    """The affected cells of a stage: `frame` has the columns `on`, each combination once, and `WHOLE_FROM`.

    Those are `key` and bounds, or, where windows depend on other elements, `key` alone: then all cells of it are that
    start then or later. `rows` are the rows that are forgotten, by step and number, as the stage reads them. `left` are
    cells that they are in too, and that stay as they are. `noted` are dead letters (`LETTER`) of rows that may be there
    no more.
    """

    frame: DataFrame
    on: tuple[str, ...]
    rows: DataFrame
    left: DataFrame | None = None
    noted: tuple[DataFrame, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing at all to take out."""
        return all(frame.isEmpty() for frame in (self.frame, self.rows, *self.noted))

    def of(self, frame: DataFrame) -> DataFrame:
        """Those rows of a frame of cells that are of these."""
        found = frame.join(self.frame, on=list(self.on), how="inner")
        return where(found, col(WINDOW_START) >= col(WHOLE_FROM)).drop(WHOLE_FROM)

    def but(self, frame: DataFrame) -> DataFrame:
        """All others."""
        found = frame.join(self.frame, on=list(self.on), how="left")
        return where(found, col(WHOLE_FROM).is_null() | (col(WINDOW_START) < col(WHOLE_FROM))).drop(WHOLE_FROM)

    def tells(self, cells: DataFrame) -> DataFrame:
        """Cells with `GOES`: whether they are of these."""
        found = cells.join(self.frame, on=list(self.on), how="left")
        goes = col(WHOLE_FROM).is_not_null() & (col(WINDOW_START) >= col(WHOLE_FROM))
        return with_column(found, GOES, goes).drop(WHOLE_FROM)

    def touching(self, pairs: DataFrame) -> DataFrame:
        """Those of pairs of row and window that these cells may be made of, and maybe others of their keys."""
        return pairs.join(self.frame, on=list(self.on), how="left_semi")

    def among(self, stage: Stage, panes: DataFrame) -> DataFrame:
        """Those rows of a table of panes, or of panes as another stage reads them, that are of these cells."""
        found = self._tells(stage, panes, lit(True))
        return where(found, col(GOES)).drop(GOES)

    def older(self, stage: Stage, tick: int) -> Callable[[DataFrame], DataFrame]:
        """Tells of the rows of a table of panes which are of these cells, and of an earlier tick."""
        return lambda rows: self._tells(stage, rows, col("tick") < bigint(tick))

    def stored(self, stage: Stage) -> Callable[[DataFrame], DataFrame]:
        """Tells of the rows of a snapshot which are of these cells."""
        return lambda rows: self._tells(stage, rows, lit(True))

    def in_journal(self, stage: Stage, letters: DataFrame) -> Callable[[DataFrame], DataFrame]:
        """Tells of the rows of a journal which are transitions of these cells, or these letters."""
        is_cell = (col(LogColumn.KIND) == CELLS) | (col(LogColumn.KIND) == PANE)
        is_letter = col(LogColumn.KIND) == DEAD_LETTER
        own = {f"_of_{name}": when(is_letter, column) for name, column in _LETTER_OF.items()}

        def tells(rows: DataFrame) -> DataFrame:
            of_cells = self._tells(stage, rows, is_cell).withColumnRenamed(GOES, _OF_CELL)
            of_letters = _with(of_cells, letters, own, LETTER)
            goes = col(_OF_CELL).same(lit(True)) | col(GOES).same(lit(True))
            return with_column(of_letters, GOES, goes).drop(_OF_CELL)

        return tells

    def letters(self, journal: DataFrame) -> DataFrame:
        """The dead letters of the rows (`LETTER`), and those that were noted, each once."""
        found = letters_of(journal).join(self.rows, on=list(ROW_OF), how="left_semi")
        return each_once([found.select(*LETTER), *self.noted])

    def _tells(self, stage: Stage, rows: DataFrame, condition: Column) -> DataFrame:
        identity = cell_identity(stage)
        own = {f"_of_{name}": name for name in self.on}
        for name, of in own.items():
            rows = with_column(rows, name, when(condition, identity[of]))
        named = select(self.frame, {**{name: col(of) for name, of in own.items()}, WHOLE_FROM: col(WHOLE_FROM)})
        found = rows.join(named, on=[*own], how="left")
        goes = col(WHOLE_FROM).is_not_null() & (identity[WINDOW_START] >= col(WHOLE_FROM))
        return with_column(found, GOES, goes).drop(*own, WHOLE_FROM)


_OF_CELL = "_goes_with_cell"
_LETTER_OF: Mapping[str, Column] = {
    "tick": col("tick"), **{name: col(LogColumn.DEAD_LETTER, name) for name in ("source", "element")},
}  # fmt: skip
"""The columns of `LETTER` in a journal."""


def letters_of(journal: DataFrame, read: str | None = None) -> DataFrame:
    """The dead letters of a journal, of what is read from one source or stage or from all: `LETTER` and `ROW_OF`."""
    letters = where(journal, col(LogColumn.KIND) == DEAD_LETTER)
    if read is not None:
        letters = where(letters, col(LogColumn.DEAD_LETTER, "source") == lit(read))
    rows = {name: col(LogColumn.DEAD_LETTER, name.removeprefix("_")) for name in ROW_OF}
    return select(letters, {**_LETTER_OF, **rows})


def letters_in_table(letters: DataFrame) -> Callable[[DataFrame], DataFrame]:
    """Tells of the rows of the table `dead_letters` which are these letters."""
    own = {f"_of_{name}": col(name) for name in LETTER}
    return lambda rows: _with(rows, letters, own, LETTER)


def earliest(frames: Sequence[DataFrame], on: Sequence[str]) -> DataFrame:
    """Affected cells from several frames, each once, with the earliest start of any."""
    return group(reduce(DataFrame.unionByName, frames), on, {WHOLE_FROM: call("min", col(WHOLE_FROM))})


def each_once(frames: Sequence[DataFrame]) -> DataFrame:
    """The rows of all frames, each once."""
    return reduce(DataFrame.unionByName, frames).distinct()


def _with(rows: DataFrame, others: DataFrame, own: Mapping[str, Column], on: tuple[str, ...]) -> DataFrame:
    """The rows with `GOES`: whether one of the others has, in its columns `on`, what these columns have."""
    for name, column in own.items():
        rows = with_column(rows, name, column)
    named = select(others, {name: col(other) for name, other in zip(own, on, strict=True)})
    return with_goes(rows, named, tuple(own))
