"""The cells of a stage that rows of a person are in, and the rows of tables that are of these cells."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import reduce

from pyspark.sql import DataFrame
from pyspark.sql.types import LongType, StructField, StructType

from windrow.compile.columns import CELL, KEY, WINDOW_START
from windrow.compile.elements.envelope import EVENT_TIME, REASON, ROW, STEP, has_to_go
from windrow.compile.panes.log_rows import CELLS, PANE, cell_identity
from windrow.compile.sql.columns import Column, bigint, col, lit, null, when
from windrow.drivers.forget.notes import CELLS_OF, KEYED, ROWS_OF, Noted
from windrow.drivers.pipeline.pipeline import PipelineWork
from windrow.drivers.pipeline.stage import StageWork
from windrow.drivers.retention.kept import whole_from
from windrow.engine.frames import local, select, where, with_column
from windrow.engine.tick.elements import pairs_of_input
from windrow.spec.errors import NotInThisVersion
from windrow.spec.stages.keys import LogColumn
from windrow.spec.stages.stage import Stage
from windrow.spec.times import MINUS_INFINITY
from windrow.store.delta.rewriting import GOES, with_goes
from windrow.store.journal.control import DEAD_LETTER
from windrow.store.upstream.offsets import START

ROW_OF = (STEP, ROW)
"""What identifies a row of what a stage reads."""


@dataclass(frozen=True)
class Affected:
    """The affected cells of a stage, each once: `frame` has the columns `on`.

    Those are `key` and bounds, or, where windows depend on other elements, `key` alone: then all cells of it are.
    `rows` are the rows that are forgotten, by step and number, as the stage reads them. `left` are cells that they are
    in too, and that stay as they are.
    """

    frame: DataFrame
    on: tuple[str, ...]
    rows: DataFrame
    left: DataFrame | None = None

    def of(self, frame: DataFrame) -> DataFrame:
        """Those rows of a frame of cells that are of these."""
        return frame.join(self.frame, on=list(self.on), how="left_semi")

    def but(self, frame: DataFrame) -> DataFrame:
        """All others."""
        return frame.join(self.frame, on=list(self.on), how="left_anti")

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

    def in_journal(self, stage: Stage) -> Callable[[DataFrame], DataFrame]:
        """Tells of the rows of a journal which are transitions of these cells, or letters of the rows."""
        is_cell = (col(LogColumn.KIND) == CELLS) | (col(LogColumn.KIND) == PANE)

        def tells(rows: DataFrame) -> DataFrame:
            of_cells = self._tells(stage, rows, is_cell).withColumnRenamed(GOES, _OF_CELL)
            letters = self._letters(of_cells)
            goes = col(_OF_CELL).same(lit(True)) | col(GOES).same(lit(True))
            return with_column(letters, GOES, goes).drop(_OF_CELL)

        return tells

    def letters(self, journal: DataFrame) -> DataFrame:
        """The dead letters of the rows, as rows of the table: tick, source and element."""
        found = where(self._letters(where(journal, col(LogColumn.KIND) == DEAD_LETTER)), col(GOES))
        source, element = (col(LogColumn.DEAD_LETTER, name) for name in ("source", "element"))
        return select(found, {"tick": col("tick"), "source": source, "element": element}).distinct()

    def _letters(self, rows: DataFrame) -> DataFrame:
        is_letter = col(LogColumn.KIND) == DEAD_LETTER
        own = {f"_of{name}": col(LogColumn.DEAD_LETTER, name.removeprefix("_")) for name in ROW_OF}
        return _with(rows, self.rows, {name: when(is_letter, column) for name, column in own.items()}, ROW_OF)

    def _tells(self, stage: Stage, rows: DataFrame, condition: Column) -> DataFrame:
        identity = cell_identity(stage)
        own = {f"_of_{name}": when(condition, identity[name]) for name in self.on}
        return _with(rows, self.frame, own, self.on)


_OF_CELL = "_goes_with_cell"


def _with(rows: DataFrame, others: DataFrame, own: Mapping[str, Column], on: tuple[str, ...]) -> DataFrame:
    """The rows with `GOES`: whether one of the others has, in its columns `on`, what these columns have."""
    for name, column in own.items():
        rows = with_column(rows, name, column)
    named = select(others, {name: col(other) for name, other in zip(own, on, strict=True)})
    return with_goes(rows, named, tuple(own))


def letters_in_table(letters: DataFrame) -> Callable[[DataFrame], DataFrame]:
    """Tells of the rows of the table `dead_letters` which are these letters."""
    own = {f"_of_{name}": col(name) for name in ("tick", "source", "element")}
    return lambda rows: _with(rows, letters, own, ("tick", "source", "element"))


def going(work: PipelineWork, item: StageWork, above: Mapping[str, Affected]) -> dict[str, DataFrame]:
    """By input, the rows of what a stage reads that are forgotten, or that are panes of affected cells.

    They count as alive, as they did when the stage read them.
    """
    upstream, spark = item.runner.upstream, work.spark
    stages = {one.name: one.runner.stage.shown for one in work.stages}
    found: dict[str, DataFrame] = {}
    for name, rows in upstream.parts(spark, START, upstream.head(spark)).items():
        read = upstream.logs[name].name
        if read in work.raws:
            found[name] = with_column(where(rows, has_to_go()), REASON, null("string"))
        elif read in above:
            found[name] = above[read].among(stages[read], rows)
    return found


def cells_of_rows(item: StageWork, parts: Mapping[str, DataFrame]) -> list[DataFrame]:
    """The cells and windows that rows are in, with columns of `identity_of`; a frame for each input and kind."""
    stage, strategy = item.runner.stage, item.runner.strategy
    on = list(identity_of(item))
    frames = []
    for name, rows in parts.items():
        timed = where(rows, col(EVENT_TIME).is_not_null())
        for pairing in (strategy.pairs, strategy.in_cells) if strategy.adds_up else (strategy.pairs,):
            frames.append(pairs_of_input(stage.of_input(name), timed, pairing).select(*on))
    return frames


def identity_of(item: StageWork) -> tuple[str, ...]:
    """The columns by which cells are affected."""
    return (KEY,) if item.runner.strategy.depends_on_others else CELL


def affected(work: PipelineWork, item: StageWork, above: Mapping[str, Affected], noted: Noted) -> Affected | None:
    """The affected cells of a stage; None where it has read nothing that could be.

    What was written down before a stage in front changed is among them. Where results stay as they are that others
    are part of, those are none of them, but `left`.
    """
    parts = going(work, item, above)
    cells = [*cells_of_rows(item, parts), *noted.read(item.name, CELLS_OF)]
    rows = [*(frame.select(*ROW_OF) for frame in parts.values()), *noted.read(item.name, ROWS_OF)]
    keyed = noted.read(item.name, KEYED)
    if not cells and not keyed:
        return None
    found = _each_once([*(_whole(work, item, one, keyed) for one in cells), *keyed])
    on, gone = identity_of(item), _each_once(rows) if rows else _no_rows(work)
    if not noted.leaves:
        return Affected(found, on, gone)
    others = _of_others(work, item, gone)
    if others is None:
        return Affected(found, on, gone)
    left = found.join(others, on=list(on), how="left_semi")
    return Affected(found.join(others, on=list(on), how="left_anti"), on, gone, left)


def _of_others(work: PipelineWork, item: StageWork, gone: DataFrame) -> DataFrame | None:
    """The cells of all rows that the stage has read and that are not forgotten; None without any."""
    every = item.runner.upstream.parts(work.spark, START, item.runner.offsets)
    alive = {
        name: where(rows, col(REASON).is_null()).join(gone, on=list(ROW_OF), how="left_anti")
        for name, rows in every.items()
    }
    frames = cells_of_rows(item, alive)
    return _each_once(frames) if frames else None


def _whole(work: PipelineWork, item: StageWork, cells: DataFrame, keyed: list[DataFrame]) -> DataFrame:
    """Those of the cells that can be made anew: of the others rows were removed, and nobody else's is to be lost.

    Raises NotInThisVersion where all cells of a key would have to be made that others have too.
    """
    first = whole_from(work, item)
    if first == MINUS_INFINITY:
        return cells
    if item.runner.strategy.depends_on_others:
        others = cells if not keyed else cells.join(_each_once(keyed), on=[KEY], how="left_anti")
        if others.isEmpty():
            return cells
        rule = "has lost rows to retention, so that the windows of a key cannot all be made anew"
        raise NotInThisVersion(f"stages.{item.name}", rule)
    return where(cells, col(WINDOW_START) >= bigint(first))


def _no_rows(work: PipelineWork) -> DataFrame:
    return local(work.spark, [], StructType([StructField(name, LongType()) for name in ROW_OF]))


def _each_once(frames: list[DataFrame]) -> DataFrame:
    return reduce(DataFrame.unionByName, frames).distinct()
