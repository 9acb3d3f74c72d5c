"""A stage of a lake advances: it ticks, opens behind batches, and is compacted now and then."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from windrow.compile.columns import WEIGHT
from windrow.compile.sql.columns import col
from windrow.drivers.pipeline import opening
from windrow.drivers.pipeline.enlarged import turned_into_windows
from windrow.drivers.pipeline.points import point
from windrow.drivers.pipeline.spans import span
from windrow.drivers.pipeline.ticking import TickRunner
from windrow.engine.clocks.clock import TickTimes
from windrow.engine.frames import where
from windrow.engine.partitions import sized
from windrow.engine.tick.counters import Counters
from windrow.engine.tick.tick import TickPlan
from windrow.spec.times import MINUS_INFINITY
from windrow.store.delta.copy_on_write import Rewrite
from windrow.store.journal.cells import compact
from windrow.store.journal.control import STREAM, Control, has_stream
from windrow.store.journal.journal import Journal
from windrow.store.journal.sizes import rows_at_most
from windrow.store.upstream.offsets import Offsets
from windrow.store.upstream.panes import StagePanes

COMPACT_EVERY = 8
"""After how many ticks behind the newest snapshot that have to be read the journal is compacted into a new one."""
COMPACT_AT_LEAST_EVERY = 64
"""After how many in any case: whoever opens the stage looks at the commit of each."""


@dataclass
class StageRunner(TickRunner):
    """A stage at work on a lake, beside others who may commit to its journal."""

    journal: Journal

    @property
    def forgets_until(self) -> int:
        """Windows that end by then have expired for the state of the stage.

        Where batches publish windows that merge, their bounds stay known: rows beside them are open, however old.
        """
        is_by_batches = self.strategy.judges_by_cells and not has_stream(self.last)
        return MINUS_INFINITY if is_by_batches else self.clock.expired_end

    def refresh(self) -> None:
        """Read the newest tick again, and then the ends of the logs that are read.

        Whoever knows of a tick that has forgotten rows must not read them from files of the commits that landed them.
        """
        super().refresh()
        self.upstream.head(self.spark)

    def forget(self, control: Control, plans: Sequence[TickPlan], change: Rewrite) -> Control:
        """Commit a tick that takes rows of earlier ones out. Raises StepTaken where another writer has committed."""
        self._last = self.journal.forget(self.spark, control, plans, change)
        return self._last

    def advance(self, head: Offsets, kind: str = STREAM) -> Control | None:
        """Take the next steps of what is read, up to `head`, as one tick. None when there are none.

        The first tick behind batches opens the stage over all that they have read (`windrow.drivers.pipeline.opening`).
        """
        if self.opens:
            return opening.opened(self, head, kind)
        return super().advance(head, kind)

    @property
    def opens(self) -> bool:
        """Whether batches have read rows and no stream has: what they left has yet to become cells."""
        return self.last is not None and not self.last.streams

    def until_correction(self, after: Offsets, until: Offsets) -> tuple[Offsets, bool]:
        """Where a tick ends whose stage cannot take elements back, and whether all that it reads is a correction.

        A correction of panes that it has counted is late as a whole: `restate` counts it.
        """
        for name, log in self.upstream.logs.items():
            if not self.stage.of_input(name).nets or not isinstance(log, StagePanes):
                continue
            tick = log.correction(self.spark, after.of(name), until.of(name))
            if tick is not None and tick > after.of(name) + 1:
                until = until.with_step(name, tick - 1)
            elif tick is not None:
                rows = log.rows(self.spark, tick - 1, tick)
                return after.with_step(name, tick), not where(rows, col(WEIGHT) < 0).isEmpty()
        return until, False

    def commit(
        self,
        times: TickTimes,
        until: Offsets,
        plan: TickPlan,
        started: float,
        kind: str,
        late_until: int = MINUS_INFINITY,
    ) -> Control:
        control = super().commit(times, until, plan, started, kind, late_until)
        behind, read = self.journal.ticks_behind_snapshot(self.spark, control.clock.expired_end)
        if read >= COMPACT_EVERY or behind >= COMPACT_AT_LEAST_EVERY:
            self.compact()
        return control

    def _work(self, counters: Counters) -> int | None:
        """The elements, and all cells that may be open."""
        cells = rows_at_most(self.journal, self.spark)
        return None if cells is None else cells + max(counters.kept, counters.assigned)

    def take_over_cells(self) -> Control | None:
        """Where the allowed lateness was smaller, there may be other cells than windows: a tick opens those.

        None where only batches have read, which leave no cells. Errors: StepTaken where another writer has committed
        meanwhile.
        """
        if self.last is None or not self.last.streams:
            return None
        made = turned_into_windows(self.spark, self.journal, self.last, self.admission)
        self._last = made or self.last
        return made

    def compact(self) -> None:
        """Compact the journal into a snapshot as of the last tick."""
        if self.last is not None:
            point("compact:before_snapshot")
            with span("compact"), sized(self.spark, lambda: rows_at_most(self.journal, self.spark)):
                compact(self.journal, self.spark, self.last.tick, self.last.clock.expired_end)
            point("compact:after_snapshot")
