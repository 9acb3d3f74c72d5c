"""Whether a forgetting was begun and not finished: a process was killed, or one is at work."""

from __future__ import annotations

from windrow.drivers.forget.notes import Noted
from windrow.drivers.pipeline.pipeline import PipelineWork
from windrow.spec.errors import NotYet
from windrow.store.upstream.forgotten import going


def check_finished(work: PipelineWork) -> None:
    """Raises NotYet where rows are being forgotten, or what was written down of them is there yet."""
    hint = "run windrow forget FILE, which goes on with it"
    for source in work.pipeline.sources:
        raw = work.raws[source.name]
        until = 0 if source.connector.is_in_place else raw.last_step(work.spark)
        if until and not going(raw, work.spark, until).isEmpty():
            raise NotYet(f"sources.{source.name}", "has rows of a person who is being forgotten", None, hint)
    if Noted(work.spark, work.lake).is_there:
        raise NotYet("lake", "has results of a person who is being forgotten", None, hint)
