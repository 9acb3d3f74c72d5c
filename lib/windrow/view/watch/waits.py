"""What waits for what: rows for a stage that reads them, windows for a watermark, tables for their ticks, and so on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from windrow.spec.times import INFINITY, MINUS_INFINITY
from windrow.view.status import StageStatus
from windrow.view.text.times import many, moment
from windrow.view.watch.look import Look


@dataclass(frozen=True)
class Wait:
    """What waits, and for what, in words; `stage` is the one that it is about."""

    stage: str
    what: str
    waits_for: str


def waits_of(look: Look) -> Iterator[Wait]:
    """Everything that waits, stage by stage, in the order of the file."""
    for stage in look.stages:
        yield from (Wait(stage.stage, what, waits_for) for what, waits_for in _of(look, stage))


def _of(look: Look, stage: StageStatus) -> Iterator[tuple[str, str]]:
    name = stage.stage
    for gate in look.gates:
        if gate.stage == name:
            what = f"a new generation of {name}" if gate.is_new else name
            yield what, f"its gate, which stops it: windrow report {look.typed}"
    if stage.changed:
        yield f"what the file says of {name} now", f"a new generation: windrow run {look.typed} --from-start"
    if stage.tick is None:
        yield name, f"its first tick: windrow run {look.typed}"
        return
    yield from _rows(stage)
    if stage.watermark != INFINITY and stage.open_cells:
        yield f"{many(stage.open_cells, 'open window')} of {name}", _watermark(stage)
    yield from _tables(stage)
    late = look.late.get(name, 0)
    if late:
        yield f"{many(late, 'late row')} of {name}", f"a restatement: windrow restate {look.typed}"


def _rows(stage: StageStatus) -> Iterator[tuple[str, str]]:
    """What has not been read, of each upstream once."""
    for one in {one.upstream: one for one in stage.inputs if one.batches_behind}.values():
        rows = many(one.rows_behind, "pane" if one.reads_a_stage else "row")
        steps = ("tick", "ticks") if one.reads_a_stage else ("landing batch", "landing batches")
        yield f"{rows} of {one.upstream}", f"{stage.stage} to read {many(one.batches_behind, *steps)}"


def _watermark(stage: StageStatus) -> str:
    why = f": {stage.held_by}" if stage.held_by else ""
    if stage.watermark in (None, MINUS_INFINITY):
        return f"a first watermark{why}"
    return f"the watermark, which stands at {moment(stage.watermark)}{why}"


def _tables(stage: StageStatus) -> Iterator[tuple[str, str]]:
    ticks = (stage.tick or 0) - stage.projected_to
    if ticks > 0:
        yield f"the tables of {stage.stage}", f"the projection of {many(ticks, 'tick')}"
    if stage.ticks_to_refresh:
        yield f"current of {stage.stage}", f"its refresh: it lacks the panes of {many(stage.ticks_to_refresh, 'tick')}"
