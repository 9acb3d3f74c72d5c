"""What a run has put into its staging area, and whether that may still be published.

Rule: docs/semantics.md#backfill-and-reconcile.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from pyspark.sql import DataFrame

from windrow.compile.sql.columns import col
from windrow.drivers.pipeline.points import point
from windrow.drivers.pipeline.stage import StageWork
from windrow.drivers.recompute.counting import in_windows
from windrow.drivers.recompute.publish.commit import commit
from windrow.drivers.recompute.publish.replacing import WAITS
from windrow.drivers.recompute.run import Run
from windrow.drivers.recompute.scope.request import Mode, Scope
from windrow.drivers.recompute.windows.recomputed import Recomputed, recomputed
from windrow.drivers.recompute.windows.unrestated import files_in_quarantine, has_letters
from windrow.engine.frames import where
from windrow.engine.tick.published import Made, Span
from windrow.store.journal.control import ADMISSION, READING, has_stream
from windrow.store.journal.staging import Staged, Staging
from windrow.store.projections.dead_letters import Restated


@dataclass(frozen=True)
class StagedWindows:
    """The windows of one stage in the staging area of a run. `mode` is what the run makes of those not expired."""

    run: Run
    item: StageWork
    mode: Mode

    def standing(self, scope: Scope) -> tuple[Scope, Staged] | None:
        """What stands there, with what may be published of it; None where there is nothing, or it is out of date."""
        spark = self.run.work.spark
        before = self._area.last(spark)
        if before is None or before.mode != self.mode.value:
            return None
        if before.quarantined != self.item.runner.upstream.quarantined(spark):
            return None
        known = _as_staged(scope, before)
        return (known, before) if known is not None and self._is_valid(known, before) else None

    def compute(self, scope: Scope) -> Staged:
        """Recompute the windows and put them in place of what stands there."""
        work, item = self.run.work, self.item
        quarantined = item.runner.upstream.quarantined(work.spark)
        tick = self._tick
        found = recomputed(work, item, scope)
        of = Staged(
            "", tick, scope.offsets, quarantined, 0, self.mode.value, _listed(scope.spans),
            [[one.first, one.last, one.until] for one in scope.made], scope.until, _listed(scope.gaps), found.restates,
        )  # fmt: skip
        staged = self._area.write(found.windows, of)
        point("backfill:after_staging")
        self.run.record("rows", item.name, in_windows(work.spark, item, scope.spans, scope.offsets))
        return staged

    def read(self, staged: Staged) -> Recomputed:
        """The staged windows."""
        return Recomputed(self._area.read(self.run.work.spark, staged), staged.restates)

    def shown(self, staged: Staged) -> DataFrame:
        """The staged windows that would be shown."""
        windows = self.read(staged).windows
        return windows if self.mode is Mode.EARLY else where(windows, ~col(WAITS))

    def discard(self) -> None:
        """Delete what stands there."""
        self._area.log.location.remove(self.run.work.spark)

    @property
    def _area(self) -> Staging:
        return Staging.of(self.run.work.lake, self.run.name, self.item.runner.journal, self.run.start, self.run.end)

    @property
    def _tick(self) -> int:
        """The last tick of the journal."""
        return 0 if self.item.runner.last is None else self.item.runner.last.tick

    def _is_valid(self, scope: Scope, staged: Staged) -> bool:
        """Whether nothing has happened since, or nothing that would give other windows.

        That is the commit of what is staged, if the run was killed then; or ticks of a stream that had closed these
        windows before, so that no row was for them but late ones, which are dead letters.
        """
        if staged.tick == self._tick or self._has_only_admitted(staged.tick):
            return staged.offsets == scope.offsets
        if self._has_only_passed(scope, staged.tick):
            return True
        if staged.offsets != scope.offsets:
            return False
        result = commit(self.run.work, self.item, scope, self.read(staged), dry_run=True)
        return result.inserted + result.changed + result.retracted == 0

    def _has_only_admitted(self, after: int) -> bool:
        """Whether the journal holds nothing since that tick but admissions: rows of them would give other offsets."""
        ticks = self.item.runner.journal.controls(self.run.work.spark, after, self._tick)
        return all(control.kind == ADMISSION for control in ticks.values())

    def _has_only_passed(self, scope: Scope, after: int) -> bool:
        """Whether the journal holds nothing since that tick but ticks of a stream, without a late row for the span.

        Such a row may be late for a window in the span whose letter names one before it.
        """
        work, item = self.run.work, self.item
        ticks = item.runner.journal.controls(work.spark, max(after - 1, 0), self._tick)
        if after == 0 or not has_stream(ticks[after]):
            return False
        if any(control.kind not in READING for tick, control in ticks.items() if tick > after):
            return False
        late_span = item.runner.stage.windows.late_span
        within_late_span = tuple(replace(one, first=one.first - late_span) for one in scope.made)
        restated = Restated(within_late_span, quarantined_files=files_in_quarantine(work, item))
        return not has_letters(work, item, restated, after)


def _as_staged(scope: Scope, staged: Staged) -> Scope | None:
    """The scope with the windows that may be published of what is staged: those that could be then.

    None where other spans were staged.
    """
    if _listed(scope.spans) != staged.spans:
        return None
    made, gaps = tuple(Made(*one) for one in staged.made), tuple((first, last) for first, last in staged.gaps)
    return replace(scope, made=made, until=staged.until, gaps=gaps)


def _listed(spans: tuple[Span, ...]) -> list[list[int]]:
    return [list(span) for span in spans]
