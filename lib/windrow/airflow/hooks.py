"""What tasks do behind their work: events for consumers, warnings for whoever wants to hear of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from windrow.airflow.events import Announcement, NewLateRows, Told
from windrow.airflow.kinds import Kind
from windrow.airflow.notify import Warnings
from windrow.airflow.options import DagOptions
from windrow.spec.pipelines.pipeline import Pipeline
from windrow.spec.pipelines.schedules import LATE


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
    announcement = Announcement(pipeline.lake, kind.run_of, _told(kind, pipeline))
    warns = [] if options.on_warning is None else [Warnings(pipeline.lake, kind.run_of, options.on_warning)]
    aliases = announcement.aliases
    return {"inlets": aliases, "outlets": aliases, "post_execute": InTurn([announcement, *warns])}


def _told(kind: Kind, pipeline: Pipeline) -> list[Told]:
    """A restatement does not tell of late rows: those that it leaves would start the next one."""
    restates_late = pipeline.schedule is not None and pipeline.schedule.restate == LATE
    late: list[Told] = [NewLateRows(pipeline)] if restates_late and kind.finds_late_rows else []
    return [kind.changes(pipeline), *late]
