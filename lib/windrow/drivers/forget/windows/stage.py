"""A stage forgets: one tick of its journal, and its tables. Rule: docs/design.md#forgetting."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace

from windrow.drivers.forget.notes import CELLS_OF, ROWS_OF, Noted
from windrow.drivers.forget.windows.affected import ROW_OF, Affected, letters_in_table
from windrow.drivers.forget.windows.finding import Finding, cells_of_rows
from windrow.drivers.forget.windows.leaving import LeftWindows
from windrow.drivers.forget.windows.remade import Remaking
from windrow.drivers.pipeline.pipeline import PipelineWork
from windrow.drivers.pipeline.points import point
from windrow.drivers.pipeline.stage import StageWork
from windrow.drivers.recompute.scope.catching_up import admitted, catch_up, follow
from windrow.drivers.retention.kept import first_with_rows
from windrow.engine.tick.counters import NOTHING
from windrow.spec.times import MINUS_INFINITY
from windrow.store.delta.copy_on_write import Rewrite, rewrite_once
from windrow.store.delta.log.retries import StepTaken, tried_again
from windrow.store.journal.cells import compact
from windrow.store.journal.control import FORGETTING, Control, TickRows
from windrow.store.upstream.offsets import START


@dataclass(frozen=True)
class ForgottenWindows:
    """What became of a stage: how many windows the rows were in, and the tick that has made them anew.

    Where windows depend on other elements `windows` counts keys. `left` counts those that stay as they are. `tick` is
    None where the stage has nothing of these rows. Windows that start before `whole_from`, in microseconds, stay as
    they are, too, but for those whose key is the person: rows of them were removed by their age. None without such.
    """

    stage: str
    windows: int = 0
    tick: int | None = None
    left: int = 0
    whole_from: int | None = None

    @classmethod
    def of(cls, item: StageWork, windows: int = 0, tick: int | None = None, left: int = 0) -> ForgottenWindows:
        first = first_with_rows(item.runner)
        return cls(item.name, windows, tick, left, None if first == MINUS_INFINITY else first)


@dataclass(frozen=True)
class StageForgetting:
    """A stage of a pipeline, behind those in front of it, whose affected cells are `above`."""

    work: PipelineWork
    item: StageWork
    above: Mapping[str, Affected]
    noted: Noted

    @contextmanager
    def done(self) -> Iterator[tuple[Affected | None, ForgottenWindows]]:
        """Do it, and give the affected cells for the stages behind, which are there until the end of the body."""
        tried_again(self._stand)
        found = Finding(self.work, self.item, self.above, self.noted).affected()
        if found is None or self.item.runner.last is None:
            yield None, ForgottenWindows.of(self.item)
            return
        frames = [found.frame.persist(), found.rows.persist()]
        try:
            kept = replace(found, frame=frames[0], rows=frames[1])
            windows, left = frames[0].count(), 0 if kept.left is None else kept.left.count()
            if not windows and kept.is_empty:
                yield kept, ForgottenWindows.of(self.item)
                return
            control = tried_again(lambda: self._forget(kept), lambda: tried_again(self._stand), self.work.lease)
            self._tables(kept, control.tick)
            yield kept, ForgottenWindows.of(self.item, windows, control.tick, left)
        finally:
            for frame in frames:
                frame.unpersist()

    def _stand(self) -> None:
        """Let the stage read all that those in front have emitted, and its tables show all of its ticks.

        Raises NotYet where two generations of it are at work.
        """
        if self.work.upstreams_of(self.item):
            follow(self.work, self.item)
        catch_up(self.work, self.item)
        admitted(self.work, self.item)
        self.item.check_settled()

    def _forget(self, found: Affected) -> Control:
        """The tick. Raises StepTaken where another writer has committed meanwhile."""
        runner, spark = self.item.runner, self.work.spark
        last, stage = runner.last, runner.stage.shown
        assert last is not None, "it has ticks"
        if self.item.projections.behind(last.tick):
            raise StepTaken(runner.journal.location.path, last.tick, None)
        self._note_readers(found)
        point("forget:after_cells")
        letters = found.letters(runner.journal.location.read(spark)).persist()
        try:
            self.item.projections.rewrite("dead_letters", Rewrite(letters_in_table(letters)))
            point("forget:after_letters")
            self._in_snapshot(found, last.tick + 1)
            plans = Remaking(self.work, self.item, found, last).plans()
            if found.left is not None:
                LeftWindows.of(self.work, self.item).write(found.left)
            point("forget:before_journal")
            made = runner.forget(_control(last), plans, Rewrite(found.in_journal(stage, letters)))
        finally:
            letters.unpersist()
        point("forget:after_journal")
        self._compact(found, made.tick)
        return made

    def _compact(self, found: Affected, tick: int) -> None:
        """Compact the journal as of the tick.

        No snapshot that was begun before that tick may be put in its place, or be read by it: it has the cells as they
        were. Raises StepTaken where there is one: a tick may have read it.
        """
        runner, snapshot = self.item.runner, self.item.runner.journal.snapshot
        seen = snapshot.newest_version(runner.spark)
        is_late = self._in_snapshot(found, tick)
        compact(runner.journal, runner.spark, tick, runner.forgets_until)
        is_alone = snapshot.newest_version(runner.spark) == seen + 1
        if is_late or not is_alone or runner.journal.snapshot_tick(runner.spark) < tick:
            raise StepTaken(snapshot.location.path, tick, None)

    def _in_snapshot(self, found: Affected, tick: int) -> bool:
        """Take the cells out of a snapshot that is read beside that tick; whether it had some."""
        runner, spark = self.item.runner, self.work.spark
        if runner.strategy.can_be_snapshot:  # that tick is read in its place
            return False
        journal = runner.journal
        change = Rewrite(found.stored(runner.stage.shown))
        return rewrite_once(spark, journal.snapshot.location, change, lambda: journal.snapshot_tick(spark) < tick) > 0

    def _note_readers(self, found: Affected) -> None:
        """Write down what becomes affected of the stages that read this one: its panes are gone afterwards."""
        runner, spark = self.item.runner, self.work.spark
        for reader in self.work.stages:
            upstream = reader.runner.upstream
            parts = {
                name: found.among(runner.stage.shown, rows)
                for name, rows in upstream.parts(spark, START, upstream.head(spark)).items()
                if upstream.logs[name].name == self.item.name
            }
            for frame in cells_of_rows(reader, parts):
                self.noted.write(reader.name, CELLS_OF, frame.distinct())
            for rows in parts.values():
                self.noted.write(reader.name, ROWS_OF, rows.select(*ROW_OF).distinct())

    def _tables(self, found: Affected, tick: int) -> None:
        """Project the tables, and take out of them what that tick has replaced."""
        runner, stage = self.item.runner, self.item.runner.stage.shown
        self.item.ticked(runner.last)
        self.item.project()
        older = Rewrite(found.older(stage, tick))
        for name in ("panes", "current"):
            tried_again(lambda name=name: self.item.projections.rewrite(name, older), lease=self.work.lease)  # type: ignore[misc]
        LeftWindows.of(self.work, self.item).forget(found)
        point("forget:after_tables")


def _control(last: Control) -> Control:
    """The control row of the tick behind the last one: no clock moves, and nothing is read."""
    return replace(
        last, tick=last.tick + 1, kind=FORGETTING, watermark_before=last.clock.watermark, counters=NOTHING,
        rows=TickRows(), quarantined_files=(), duration_ms=0,
    )  # fmt: skip
