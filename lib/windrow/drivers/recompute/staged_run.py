"""What a run computes and judges before it publishes: its windows in the staging area, behind the gates."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from windrow.drivers.pipeline.stage import StageWork
from windrow.drivers.recompute.findings import record_changes, record_rows
from windrow.drivers.recompute.gates import Gates
from windrow.drivers.recompute.publish.commit import BackfillResult, counted_windows
from windrow.drivers.recompute.run import Run
from windrow.drivers.recompute.scope.request import Mode, Request, Scope
from windrow.drivers.recompute.scope.scope import scope_of
from windrow.drivers.recompute.staged import StagedWindows
from windrow.drivers.recompute.windows.recomputed import times_of
from windrow.engine.tick.published import Span
from windrow.spec.quality.judgements import GateFailed, GateResult
from windrow.store.delta.log.retries import tried_again
from windrow.store.journal.staging import Staged
from windrow.store.upstream.offsets import START, Offsets


@dataclass(frozen=True)
class StagedRun:
    """The staged windows of a run over these stages; `request_of` says which windows of a stage are recomputed."""

    run: Run
    items: list[StageWork]
    request_of: Callable[[StageWork], Request]
    mode: Mode

    @property
    def gates(self) -> Gates:
        return Gates(self.run)

    def staged(self, item: StageWork) -> StagedWindows:
        """The staging area of a stage."""
        return StagedWindows(self.run, item, self.mode)

    def computed(self, items: list[StageWork], fresh: bool = False) -> list[BackfillResult]:
        """What stands in the staging areas of these stages, and what of it waits."""
        found = []
        for item in items:
            standing = tried_again(lambda item=item: self.standing(item, fresh))  # type: ignore[misc]
            if standing is not None:
                scope, of = standing
                found.append(counted_windows(self.run.work, item, scope, self.staged(item).read(of).windows))
        return found

    def standing(self, item: StageWork, fresh: bool = False) -> tuple[Scope, Staged] | None:
        """What stands in the staging area, computed where there is nothing, where it is out of date, or afresh.

        With what it read and may publish. None where nothing has landed. Raises GateFailed for the rows.
        """
        scope = scope_of(self.run.work, item, self.request_of(item))
        if scope is None:
            self._pass_rows(item, START)
            return None
        staged = self.staged(item)
        standing = None if fresh else staged.standing(scope)
        if standing is not None:
            return standing
        self._pass_rows(item, scope.offsets)
        return scope, staged.compute(scope)

    def _pass_rows(self, item: StageWork, until: Offsets) -> None:
        """Raises GateFailed for the rows that a stage has read so far."""
        self.passed_rows(self.read_by(item, until))

    def passed_rows(self, read: Mapping[str, int]) -> list[GateResult]:
        """The judgements of sources up to these steps. Raises GateFailed, with where the rows are for the report."""
        try:
            return self.gates.passed([one for name, step in read.items() for one in self._gated_rows(name, step)])
        except GateFailed:
            items = [item for item in self.items if read.keys() & {*item.runner.upstream.names}]
            record_rows(self.run, items, [self.request_of(item).spans for item in items])
            raise

    def read_by(self, item: StageWork, offsets: Offsets) -> dict[str, int]:
        """The sources of a stage, and how far each is read."""
        upstream = item.runner.upstream
        return {name: upstream.step_of(name, offsets) for name in upstream.names if name in self.run.work.raws}

    def _gated_rows(self, source: str, step: int) -> list[GateResult]:
        return self.gates.of_rows(source, step, self._times(source))

    def _times(self, source: str) -> set[Span]:
        """The source's event times of the rows of the windows, over all stages that read the source."""
        return {
            time
            for item in self.items
            if source in item.runner.upstream.names
            for span in self.request_of(item).spans
            for time in [times_of(item, span) or span]
        }

    def judged(self, items: list[StageWork]) -> list[GateResult]:
        """The judgements of what stands of these stages. Raises GateFailed, with what would change for the report."""
        results: list[GateResult] = []
        standing = {item.name: tried_again(lambda item=item: self.standing(item)) for item in items}  # type: ignore[misc]
        for item in items:
            results += self.judged_windows(item, standing[item.name])
        try:
            return self.gates.passed(results)
        except GateFailed:
            for item in items:
                if (found := standing[item.name]) is not None:
                    record_changes(self.run, self.staged(item), *found)
            raise

    def judged_windows(self, item: StageWork, standing: tuple[Scope, Staged] | None) -> list[GateResult]:
        """The judgement of the staged windows, as the stage would show them."""
        if standing is None:
            return []
        _, of = standing
        return self.gates.of_windows(item, of.id, lambda: self.staged(item).shown(of))
