"""What happens to a stage before a batch looks at it: it catches up, its tables too, and its rows are admitted.

Rule: docs/semantics.md#the-watermark-of-a-batch.
"""

from __future__ import annotations

from windrow.drivers.pipeline.pipeline import PipelineWork
from windrow.drivers.pipeline.stage import StageWork
from windrow.drivers.recompute.scope.admission_ticks import admit
from windrow.spec.errors import NotYet
from windrow.store.delta.log.retries import StepTaken
from windrow.store.journal.control import FOLLOW, Control, has_stream
from windrow.store.upstream.offsets import Offsets


def admitted(work: PipelineWork, item: StageWork, dry_run: bool = False) -> None:
    """Admit the rows that have landed, where there is no stream. Raises StepTaken."""
    if has_stream(item.runner.last) or dry_run:
        return
    for control in admit(item.runner, work.clock()):
        item.ticked(control)
    item.project()


def catch_up(work: PipelineWork, item: StageWork) -> None:
    """Project the tables of a stage up to the head of its journal. Raises NotYet as `check_is_built` does."""
    item.runner.refresh()
    item.catch_up()
    check_is_built(work, item)
    item.project()


def check_is_built(work: PipelineWork, item: StageWork) -> None:
    """Raises NotYet where the tables show another generation, and this one has yet to read some of what has landed.

    Its tables would take the place of those of the other one with a part of the windows.
    """
    for one in work.upstreams_of(item):
        check_is_built(work, one)
    runner = item.runner
    if not item.projections.is_rebuilt or not runner.upstream.head(work.spark).is_ahead_of(runner.offsets):
        return
    rule = f"has a generation {runner.journal.generation} that has yet to read some of what has landed"
    hint = (
        "let a stream come to its end first (windrow run FILE --once); the tables show the generation before until then"
    )
    raise NotYet(f"stages.{item.name}", rule, None, hint)


def follow(work: PipelineWork, item: StageWork) -> None:
    """Make the ticks by which a stage that streams has read all that the stage in front of it has emitted.

    A stream beside it may make them too: whoever comes first.
    """
    item.runner.refresh()
    item.migrate()
    while has_stream(item.runner.last):
        try:
            if item.ticked(_followed(work, item)) is None:
                return
        except StepTaken:
            item.runner.reload()


def _followed(work: PipelineWork, item: StageWork) -> Control | None:
    return item.runner.advance(item.runner.upstream.head(work.spark), FOLLOW)


def offsets_of(work: PipelineWork, item: StageWork) -> Offsets:
    """How far a batch reads: as far as the stage's stream, or to the head where there is none."""
    runner = item.runner
    return runner.offsets if has_stream(runner.last) else runner.upstream.head(work.spark)
