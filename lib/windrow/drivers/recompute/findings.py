"""What a run leaves in the audits for its report, beside what its gates found."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import asdict
from typing import Any

from pyspark.sql import Row

from windrow.compile.columns import WINDOW_END, WINDOW_START
from windrow.drivers.pipeline.stage import StageWork
from windrow.drivers.recompute.counting import in_windows
from windrow.drivers.recompute.publish.changes import first_differing
from windrow.drivers.recompute.publish.commit import BackfillResult
from windrow.drivers.recompute.run import Run
from windrow.drivers.recompute.scope.catching_up import offsets_of
from windrow.drivers.recompute.scope.request import Scope
from windrow.drivers.recompute.staged import StagedWindows
from windrow.engine.final import PANE_TIME
from windrow.engine.tick.published import Span
from windrow.spec.pipelines.masks import masks_of
from windrow.spec.quality.hidden import new_secret, without_values
from windrow.store.journal.audits import BEGIN, Finding
from windrow.store.journal.staging import Staged

FIRST = 20
"""How many windows are kept with their old and new values."""


def record_rows(run: Run, items: Iterable[StageWork], spans: Iterable[tuple[Span, ...]]) -> None:
    """Where the rows are of windows that a gate on rows keeps from being computed. Nothing where none has landed."""
    for item, of_item in zip(items, spans, strict=True):
        until = offsets_of(run.work, item)
        if not until.is_start:
            found = in_windows(run.work.spark, item, of_item, until)
            run.record("rows", item.name, {**found, "stopped": True})


def record_changes(run: Run, windows: StagedWindows, scope: Scope, of: Staged) -> None:
    """What a run would have changed whose gate on results has stopped: its staging area is gone afterwards."""
    item = windows.item
    found = first_differing(run.work, item, scope, windows.read(of).windows, FIRST)
    values = {"inserted": found.inserted, "changed": found.changed, "retracted": found.retracted}
    number = windows.shown(of).count()
    masks, secret = masks_of(run.work.pipeline, run.work.pipeline.stage(item.name)), new_secret()
    shown = [_window(row, lambda values: without_values(masks, values, secret)) for row in found.first]
    first = json.loads(json.dumps(shown, default=str))
    run.record("changes", item.name, {"stage": item.name, "windows": number, **values, "first": first})


def record_published(run: Run, began: int | None, results: Iterable[BackfillResult]) -> None:
    """What a run without gates has published, in one commit of the audits; None where it has begun before."""
    begin: list[Finding] = [] if began is None else [(BEGIN, "", {}, began)]
    run.record_all([*begin, *(("publish", one.stage, asdict(one), None) for one in results)])


def _window(row: Row, shown: Callable[[Any], Any]) -> dict[str, Any]:
    return {
        "key": shown(row["key"].asDict(recursive=True)), "window": [row[WINDOW_START], row[WINDOW_END]],
        "published": shown(_values(row["stream"])), "staged": shown(_values(row["batch"])),
    }  # fmt: skip


def _values(side: Row | None) -> dict[str, Any] | None:
    if side is None:
        return None
    return {name: value for name, value in side.asDict(recursive=True).items() if name != PANE_TIME}
