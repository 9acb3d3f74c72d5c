"""What a tick needs of a family of windows. Each family is a file beside this one; `registry` has their list."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol, Self

from pyspark.sql import DataFrame

from windrow.compile.cells.at_end import Ending
from windrow.compile.columns import CELL, ELEMENTS, EVENT_TIME, NET, WINDOW_START
from windrow.compile.sql.columns import Column, bigint, coalesce, col, lit, null
from windrow.compile.stage import CompiledStage
from windrow.compile.triggers.tree import TickClock
from windrow.compile.windows.base import CompiledWindows
from windrow.engine.clocks.clock import TickTimes
from windrow.engine.frames import full_join, group, select, where
from windrow.engine.tick.admission import Admission
from windrow.engine.tick.cogroups import grouped
from windrow.engine.tick.elements import PAIR, elements_of, pairs_of_rows
from windrow.engine.tick.evaluated import no_state, state_of, with_timer_due
from windrow.engine.tick.published import Made
from windrow.engine.tick.statistics import BatchStatistics
from windrow.spec.times import MINUS_INFINITY


@dataclass(frozen=True)
class Merged:
    """What a tick evaluates, and what else it writes; None where there is nothing.

    `windows` have their state before the tick (`s_` columns) and what the tick brings (`p_` columns). `kept` are the
    transitions, without panes, of what the family keeps beside windows: slices, records, bounds. `is_snapshot`: these
    are all cells that are open after the tick. `is_apart`: no window of it was made of others, and none is merged away.
    `ending`: the windows have no state before, and this says which of them fire.
    """

    windows: DataFrame | None
    kept: DataFrame | None = None
    is_snapshot: bool = False
    is_apart: bool = True
    ending: Ending | None = None


class FormerCells(Protocol):
    """Cells that a stage has kept in another way. The first process that opens it puts its windows in their place."""

    @property
    def stage(self) -> CompiledStage:
        """The stage as it was then."""

    @property
    def retention(self) -> int:
        """How long such a cell is kept after it has expired, in microseconds."""

    def among(self, cells: DataFrame) -> DataFrame:
        """Those of the cells of the stage that are kept so."""

    def ended(self, cells: DataFrame, windows: DataFrame) -> DataFrame:
        """The transitions by which they are no more, beside those of the windows that are there now."""

    def open_windows(self, cells: DataFrame, admission: Admission) -> DataFrame:
        """The windows over them that have not expired, with all that they hold."""


@dataclass(frozen=True)
class WindowStrategy(ABC):
    """How one family of windows goes through a tick. The defaults are those of a cell for each key and window.

    A family has to say which windows it is for (`of`), which ones an element is in (`pairs`), how elements are combined
    (`combine`), and which of them meet a closed cell (`closed_out`).

    Frames: `elements` have `key`, `event_time` and arguments; `pairs` are elements with the bounds of a window, once
    for each; `cells` have `key`, bounds and `state`; what is combined has `key`, bounds and partials (`p_` columns).
    """

    stage: CompiledStage
    windows: CompiledWindows

    @classmethod
    @abstractmethod
    def of(cls, stage: CompiledStage) -> Self | None:
        """The strategy of a stage whose windows are of this family; None for another."""

    @abstractmethod
    def pairs(self, elements: DataFrame, event_time: str) -> DataFrame:
        """Elements, or judged rows, once for each of their windows."""

    def in_cells(self, elements: DataFrame, event_time: str) -> DataFrame:
        """The same once for each of the cells that they are in, with the bounds of the cell."""
        return self.pairs(elements, event_time)

    # ---------------------------------------------------------------- a tick

    def suspect(self, event_time: Column, admission: Admission) -> Column:
        """Whether a window of the element is open, but may overlap one of its key that has expired."""
        return lit(False)

    def late_by_cells(self, keyed: DataFrame, cells: DataFrame, admission: Admission) -> DataFrame | None:
        """Judged rows with their `key`, once for each window that only the cells show to be late; None for none."""
        return None

    @abstractmethod
    def closed_out(self, keyed: DataFrame, cells: DataFrame, admission: Admission) -> DataFrame:
        """Judged rows with their `key`, once for each window in time whose trigger has finished for good."""

    def admit(
        self, elements: DataFrame, cells: DataFrame | None, admission: Admission, has_suspects: bool
    ) -> DataFrame:
        """The elements, as `combine` takes them, but for those that only the cells show to be late or closed out."""
        return elements

    @abstractmethod
    def combine(
        self,
        elements: DataFrame,
        admission: Admission,
        watermark_before: int = MINUS_INFINITY,
        to_join: bool = False,
    ) -> DataFrame:
        """Elements combined as far as no cell is needed, but for the windows that admit none.

        `to_join`: there are cells, which `merge` joins with them if it joins (`joins_cells`).
        """

    def merge(
        self,
        combined: DataFrame | None,
        cells: DataFrame | None,
        admission: Admission,
        times: TickTimes,
        clock: TickClock,
        snapshot: bool = False,
    ) -> Merged:
        """The windows that got elements, whose timer is due, or that expire. One of the frames is not None.

        With `snapshot` all others too, where the family can; `cells` are all that are open then. A window that need not
        be evaluated stays as it is if it is.
        """
        stage = self.stage
        if combined is None:
            assert cells is not None
            return Merged(with_timer_due(stage, cells, clock))
        if cells is None:
            new = select(combined, {**{name: col(name) for name in combined.columns}, **no_state(stage)})
            return Merged(new, is_snapshot=snapshot)
        joined = full_join(combined, cells, CELL)
        if not snapshot:
            joined = where(joined, col(ELEMENTS).is_not_null() | stage.cells.is_timer_due(clock))
        added = {ELEMENTS: coalesce(col(ELEMENTS), bigint(0)), **{name: col(name) for name in stage.cells.tick_parts}}
        if stage.is_weighted:
            added[NET] = coalesce(col(NET), bigint(0))
        identity = {name: col(name) for name in CELL}
        return Merged(select(joined, {**identity, **state_of(stage), **added}), is_snapshot=snapshot)

    def has_elements(self, found: BatchStatistics) -> bool:
        """Whether a row of a micro-batch may be in a window."""
        return found.counters.assigned > found.counters.late

    # ---------------------------------------------------------------- what is kept between ticks

    def admission(self, expired_end: int, published: tuple[Made, ...], streams: bool) -> Admission:
        """Which windows admit elements: not those that have expired or that batches have published.

        Where there is no stream, a window that no batch has recomputed is open, however old.
        """
        if not streams:
            return Admission(made=published)
        return Admission(expired_end, made=tuple(one for one in published if one.until > expired_end))

    @property
    def retention(self) -> int:
        """How long a cell is kept after it has expired, in microseconds."""
        return self.windows.retention

    joins_cells = False
    """Whether a tick joins the cells with what it combines, each with one of the same key and bounds."""

    adds_up = False
    """Whether a cell may have several rows, which add up; else the newest replaces the others."""

    can_be_snapshot = True
    """Whether a tick can write all cells that are open, so that none before it has to be read."""

    concerns_own_key = False
    """Whether an element concerns cells of its own key only, so that a tick need not read those of other keys."""

    judges_by_cells = False
    """Whether only the cells know which elements are late."""

    depends_on_others = False
    """Whether the windows of an element depend on other elements, so that none can be left out by its bounds."""

    ends_by_cells = False
    """Whether only the cells know the greatest end of a window."""

    follows_panes = False
    """Whether a window is that of a pane, so that it is complete with the pane that it comes from."""

    is_made_whole = False
    """Whether a batch makes such windows whole, whatever of them its span holds: those of a key become one."""

    opens_by_cells = False
    """Whether only the windows that are there say which are open."""

    @property
    def splits_late_rows(self) -> bool:
        """Whether a row that is late for one window may be in time for another, and can only be left out as a whole."""
        return False

    def wanted(self, times: TickTimes, found: BatchStatistics, timer_due: Column) -> Column | None:
        """Which cells a tick reads: those of its elements' buckets, and those whose timers are due; None for none."""
        if found.earliest is None or found.latest is None:
            return timer_due
        low, high = self.windows.bucket_range(found.earliest, found.latest)
        return timer_due | col("bucket").between(bigint(low), bigint(high))

    def greatest_end(self, cells: DataFrame) -> int | None:
        """The greatest end of a window among the cells, where only they know it."""
        return None

    def compacted(self, cells: DataFrame) -> DataFrame:
        """Cells as they are kept: one row for each."""
        return cells

    def open_windows(self, cells: DataFrame, admission: Admission) -> DataFrame:
        """The windows over the cells that have not expired, with all that they hold."""
        return cells

    @property
    def former(self) -> FormerCells | None:
        """The cells that the stage has kept where its allowed lateness was smaller, and does not keep now."""
        return None

    # ---------------------------------------------------------------- a batch

    def windows_of(self, elements: DataFrame) -> DataFrame:
        """Every window of the elements: combined for each key and window."""
        return self.combine(elements, Admission())

    def meeting(self, windows: DataFrame, others: DataFrame) -> DataFrame:
        """Those of the windows (`key` and bounds) that are one with some of the others, or would become one."""
        return windows.join(others.select(*CELL), on=list(CELL), how="left_semi")

    def standing(self, shown: DataFrame, cells: DataFrame) -> DataFrame:
        """The shown windows but for those whose last pane a cell is about to retract."""
        return shown

    def why_not_streamed(self, published: tuple[Made, ...]) -> str | None:
        """Why no stream can begin behind what batches have published; None where one can."""
        return None

    def but_for(self, transitions: DataFrame, published: DataFrame, since: int) -> DataFrame:
        """The transitions of windows that start at a time or later, and were not published (`key` and bounds)."""
        kept = transitions if since == MINUS_INFINITY else where(transitions, col(WINDOW_START) >= bigint(since))
        return kept.join(published, on=list(CELL), how="left_anti")

    def left_behind(self) -> Column:
        """The state that a window leaves behind which has expired."""
        return null(self.stage.cells.state_type)

    def combine_pairs(self, pairs: DataFrame) -> DataFrame:
        """Pairs combined for each key and window."""
        return grouped(self.stage, pairs, CELL)

    def combine_by(
        self, elements: DataFrame, by: str, parts: Mapping[str, Column], merged: Mapping[str, Column]
    ) -> DataFrame:
        """Elements combined for each key, window and value of a column: these aggregates of them.

        `merged` are the same over relations that hold them already.
        """
        return group(self.pairs(elements, EVENT_TIME), (*CELL, by), parts)

    def combine_without(self, rows: DataFrame, excluded: DataFrame) -> DataFrame:
        """Raw rows combined for each key and window, but for pairs (`PAIR`) that are dead as late or closed."""
        identity = list(PAIR[:2])
        touched = excluded.select(*identity).distinct()
        clean = rows.join(touched, on=identity, how="left_anti")
        kept = pairs_of_rows(self.stage, rows.join(touched, on=identity, how="left_semi"), self.pairs)
        kept = kept.join(excluded.select(*PAIR), on=list(PAIR), how="left_anti")
        return self.combined_with(elements_of(self.stage, clean), grouped(self.stage, kept, CELL))

    def combined_with(self, elements: DataFrame, of_pairs: DataFrame) -> DataFrame:
        """Elements that are in all of their windows, and what pairs have made, combined for each key and window."""
        return group(self.windows_of(elements).unionByName(of_pairs), CELL, self.stage.merged_parts)
