"""What a tick has changed of what a stage shows: windows with their old and new values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from windrow.drivers.inspect.diff.comparison import HERE, THERE
from windrow.drivers.inspect.diff.diff import compared
from windrow.drivers.inspect.diff.sides import shown_at
from windrow.spec.pipelines.masks import masks_of
from windrow.spec.pipelines.pipeline import Pipeline
from windrow.spec.quality.hidden import new_secret, without_values
from windrow.spec.stages.stage import Stage
from windrow.store.delta.location import Lake
from windrow.store.journal.audits import Found
from windrow.store.reading.tables import Condition, Groups, LakeTable, Tables
from windrow.view.diff import Diff, WindowDiffers


def changed_windows(tables: Tables, pipeline: Pipeline, found: Mapping[tuple[str, str], Found]) -> list[Diff]:
    """By stage: what a run has changed or retracted, or has staged where its gate has stopped.

    Of a run that has only inserted windows there is nothing old to show, nor of a stage that the file no longer has.
    """
    known = {stage.name for stage in pipeline.stages}
    staged = [_staged(result) for (step, subject), result in found.items() if step == "changes" and subject in known]
    made = [
        _published(tables, pipeline, pipeline.stage(subject), result.get("generation"), result["tick"])
        for (step, subject), result in found.items()
        if step == "publish" and subject in known
        if result["tick"] is not None and result["changed"] + result["retracted"]
    ]
    shown = [one for one in made if one is not None and not one.is_equal]
    return [*(_masked(pipeline, one) for one in shown), *(one for one in staged if not one.is_equal)]


def _masked(pipeline: Pipeline, found: Diff) -> Diff:
    """Without the values that nobody is to see."""
    masks, secret = masks_of(pipeline, pipeline.stage(found.stage)), new_secret()
    columns = [replace(one, greatest=None) if one.name.lower() in masks else one for one in found.columns]
    windows = [
        replace(one, **{name: without_values(masks, getattr(one, name), secret) for name in ("key", "here", "there")})
        for one in found.differing
    ]
    return replace(found, columns=columns, differing=windows)


def _published(tables: Tables, pipeline: Pipeline, stage: Stage, generation: int | None, tick: int) -> Diff | None:
    """None of a stage whose panes may clear: what stood before is not known from the panes alone.

    Nor of one that shows another generation by now.
    """
    panes = tables.open(Lake.of(pipeline.lake).table(stage.name, "panes"))
    if panes is None or stage.is_mixed or generation not in (None, panes.notes().get("generation")):
        return None
    here = shown_at(tables.quote, stage, panes, tick, HERE)
    there = shown_at(tables.quote, stage, panes, tick - 1, THERE)
    return compared(tables, stage, here, there, _starts(panes, tick))


def _starts(panes: LakeTable, tick: int) -> tuple[int | None, int | None]:
    """The span of the windows that a tick has touched, so that no others are looked at; none of global ones."""
    starts = panes.groups(Groups(by=("window_start",)), Condition("tick", "=", tick)).column("window_start")
    known = [start for start in starts.to_pylist() if start is not None]
    return (min(known), max(known) + 1) if known else (None, None)


def _staged(result: Found) -> Diff:
    """What a run that was stopped has kept of the differences between its staging area and what is shown."""
    return Diff(
        stage=result["stage"], here="staged", there="published", windows=result["windows"],
        only_here=result["inserted"], only_there=result["retracted"], different=result["changed"],
        differing=[_window(one) for one in result["first"]],
    )  # fmt: skip


def _window(one: Mapping[str, Any]) -> WindowDiffers:
    start, end = one["window"]
    return WindowDiffers(one["key"], start, end, here=one["staged"], there=one["published"])
