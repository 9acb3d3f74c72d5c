"""What tasks do behind their work: events for consumers, warnings for whoever wants to hear of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from windrow.airflow.kinds import Kind
from windrow.airflow.options import DagOptions
from windrow.airflow.telling.events import Announcement
from windrow.airflow.telling.freshness import FreshnessWatch
from windrow.airflow.telling.notify import Warnings
from windrow.spec.pipelines.pipeline import Pipeline


@dataclass(frozen=True)
class InTurn:
    """Hooks as one."""

    hooks: Sequence[Callable[[Any, Any], None]]

    def __call__(self, context: Any, result: Any = None) -> None:
        for hook in self.hooks:
            hook(context, result)


def hooks_of(kind: Kind, step: str, pipeline: Pipeline, options: DagOptions) -> dict[str, Any]:
    """The options of a task that has something to do behind its work: that which publishes."""
    if step != kind.publishes:
        return {}
    run_of = partial(kind.run_of, pipeline.pipeline)
    announcement = Announcement(kind.changes(pipeline), run_of)
    warns = [] if options.on_warning is None else [Warnings(pipeline.lake, run_of, options.on_warning)]
    watch, alias = watch_of(pipeline, options), [announcement.alias]
    watches = [watch] if kind.has_span and watch.allowed else []
    return {"inlets": alias, "outlets": alias, "post_execute": InTurn([announcement, *warns, *watches])}


def watch_of(pipeline: Pipeline, options: DagOptions) -> FreshnessWatch:
    """The watch over the stages that have a `freshness`."""
    allowed = {stage.name: stage.freshness for stage in pipeline.stages if stage.freshness is not None}
    return FreshnessWatch(pipeline.lake, allowed, options.on_warning)
