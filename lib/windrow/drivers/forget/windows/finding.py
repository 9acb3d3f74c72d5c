"""Which cells of a stage are affected: by the rows that are forgotten, and by the panes that these were part of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from pyspark.sql import DataFrame
from pyspark.sql.types import LongType, StructField, StructType

from windrow.compile.columns import CELL, KEY, WINDOW_START
from windrow.compile.elements.envelope import EVENT_TIME, REASON, has_to_go
from windrow.compile.sql.columns import bigint, col, null
from windrow.drivers.forget.notes import CELLS_OF, KEYED, LETTERS_OF, ROWS_OF, Noted
from windrow.drivers.forget.windows.affected import ROW_OF, Affected, each_once, earliest
from windrow.drivers.pipeline.pipeline import PipelineWork
from windrow.drivers.pipeline.stage import StageWork
from windrow.drivers.recompute.windows.unrestated import unrestated
from windrow.drivers.retention.cut import WHOLE_FROM, with_whole_from
from windrow.drivers.retention.kept import first_with_rows
from windrow.engine.frames import local, where, with_column
from windrow.engine.tick.elements import PAIR, pairs_of_input
from windrow.spec.times import MINUS_INFINITY
from windrow.store.upstream.offsets import START


@dataclass(frozen=True)
class Finding:
    """Of a stage of a pipeline; `above` are the affected cells of those in front of it."""

    work: PipelineWork
    item: StageWork
    above: Mapping[str, Affected]
    noted: Noted

    def affected(self) -> Affected | None:
        """The affected cells; None where the stage has read nothing that could be.

        What was written down before a stage in front changed is among them. Where results stay as they are that others
        are part of, those are none of them, but `left`.
        """
        parts, name = self._going(), self.item.name
        cells = [*cells_of_rows(self.item, parts), *self.noted.read(name, CELLS_OF)]
        rows = [*(frame.select(*ROW_OF) for frame in parts.values()), *self.noted.read(name, ROWS_OF)]
        keyed = [with_column(one, WHOLE_FROM, bigint(MINUS_INFINITY)) for one in self.noted.read(name, KEYED)]
        if not cells and not keyed:
            return None
        on, gone = identity_of(self.item), each_once(rows) if rows else self._no_rows()
        frame = earliest([*map(self._whole, cells), *keyed], on)
        found = Affected(frame, on, gone, noted=tuple(self.noted.read(name, LETTERS_OF)))
        others = self._of_others(gone) if self.noted.leaves else None
        if others is None:
            return found
        left = frame.join(others, on=list(on), how="left_semi").drop(WHOLE_FROM)
        return replace(found, frame=frame.join(others, on=list(on), how="left_anti"), left=left)

    def _going(self) -> dict[str, DataFrame]:
        """By input, the rows of what the stage reads that are forgotten, or that are panes of affected cells.

        They count as alive, as they did when the stage read them.
        """
        upstream, spark = self.item.runner.upstream, self.work.spark
        stages = {one.name: one.runner.stage.shown for one in self.work.stages}
        found: dict[str, DataFrame] = {}
        for name, rows in upstream.parts(spark, START, upstream.head(spark)).items():
            read = upstream.logs[name].name
            if read in self.work.raws:
                found[name] = with_column(where(rows, has_to_go()), REASON, null("string"))
            elif read in self.above:
                found[name] = self.above[read].among(stages[read], rows)
        return found

    def _whole(self, cells: DataFrame) -> DataFrame:
        """Those of the cells that can be made anew, as no rows of them were removed, with `WHOLE_FROM`."""
        runner, first = self.item.runner, first_with_rows(self.item.runner)
        if not runner.strategy.depends_on_others:
            cells, first = where(cells, col(WINDOW_START) >= bigint(first)), MINUS_INFINITY
        return with_whole_from(runner, cells, first)

    def _of_others(self, gone: DataFrame) -> DataFrame | None:
        """The cells of all rows that the stage has counted and that are not forgotten; None without any.

        A row that came too late for a window is in no result of it, whatever stands in it.
        """
        every = self.item.runner.upstream.parts(self.work.spark, START, self.item.runner.offsets)
        alive = {
            name: where(rows, col(REASON).is_null()).join(gone, on=list(ROW_OF), how="left_anti")
            for name, rows in every.items()
        }
        frames = cells_of_rows(self.item, alive, unrestated(self.item.runner).select(*PAIR))
        return each_once(frames) if frames else None

    def _no_rows(self) -> DataFrame:
        return local(self.work.spark, [], StructType([StructField(name, LongType()) for name in ROW_OF]))


def cells_of_rows(item: StageWork, parts: Mapping[str, DataFrame], dead: DataFrame | None = None) -> list[DataFrame]:
    """The cells and windows that rows are in, with columns of `identity_of`; a frame for each input and kind.

    Those of `dead` pairs (`PAIR`) are left out; a part of several windows has a row if one of them has.
    """
    stage, strategy = item.runner.stage, item.runner.strategy
    on = list(identity_of(item))
    frames = []
    for name, rows in parts.items():
        timed, of_input = where(rows, col(EVENT_TIME).is_not_null()), stage.of_input(name)
        windows = pairs_of_input(of_input, timed, strategy.pairs)
        if dead is not None:
            windows = windows.join(dead, on=list(PAIR), how="left_anti")
        frames.append(windows.select(*on))
        if strategy.adds_up:
            cells = pairs_of_input(of_input, timed, strategy.in_cells)
            counted = cells if dead is None else cells.join(windows, on=list(ROW_OF), how="left_semi")
            frames.append(counted.select(*on))
    return frames


def identity_of(item: StageWork) -> tuple[str, ...]:
    """The columns by which cells are affected."""
    return (KEY,) if item.runner.strategy.depends_on_others else CELL
