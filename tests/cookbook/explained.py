"""What `windrow explain` says of a window, over the tables that the reference model would have made: no Spark."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tests.cookbook.model_lake import ModelLake, Step
from tests.explain.model_lake import Row, Table, late_until, letter_row, pane_row
from windrow.drivers.inspect.explain.explain import explained_in
from windrow.drivers.inspect.explain.question import Question, time_and_bounds
from windrow.engine.clocks.clock import InputClock, PartitionClock, StageClock
from windrow.spec.sources.source import ENVELOPE_NAMES
from windrow.spec.stages.inputs import ONLY
from windrow.spec.times import MINUS_INFINITY
from windrow.store.delta.location import Location
from windrow.store.journal.control import Control
from windrow.store.upstream.offsets import Offsets

TYPES = {name: "bigint" for name in ("_step", "_row", "_event_time", "_arrival_time")}


@dataclass(frozen=True)
class ModelTables:
    """The tables of a lake, in memory."""

    lake: str
    tables: Mapping[str, Table]

    def open(self, location: Location) -> Table | None:
        return self.tables.get(location.path.removeprefix(f"{Path(self.lake).absolute()}/"))


def explain(lake: ModelLake, stage: str, keys: Mapping[str, str], at: str) -> str:
    """The text of the command, of a lake with one source and one stage that has read files only."""
    question = Question(lake.pipeline.stage(stage), keys, *time_and_bounds("--at", at))
    return explained_in(_tables(lake), lake.pipeline, question).text(200)


def _tables(lake: ModelLake) -> ModelTables:
    (source,), (stage,) = lake.pipeline.sources, lake.pipeline.stages
    files = list(dict.fromkeys(row.file for row in lake.landed[source.name]))
    raw = [_raw(row, files.index(row.file) + 1, number) for number, row in enumerate(lake.landed[source.name])]
    typed = lake.chain.stages[stage.name].typed
    letters = [
        letter_row(letter, number)
        for number, step in enumerate(lake.steps, 1)
        for letter in step.ticks[stage.name].dead
    ]
    envelope = {name: TYPES.get(name, "string") for name in ENVELOPE_NAMES}
    tables = {
        "_windrow/generations": Table({}, [{"stage": stage.name, "generation": 1, "fingerprint": "{}", "step": 1}]),
        f"{source.name}/raw": Table({**source.schema, **envelope}, raw, len(files)),
        f"{stage.name}/journal/1": Table({}, [_control(lake, number) for number in range(1, len(lake.steps) + 1)]),
        f"{stage.name}/panes": Table(
            {**typed.result_types, **typed.pane_types}, list(map(pane_row, lake.panes(stage.name)))
        ),
        f"{stage.name}/dead_letters": Table({}, letters),
    }
    return ModelTables(lake.pipeline.lake, tables)


def _raw(row: Any, step: int, number: int) -> Row:
    return {
        **row.element.columns, "_step": step, "_row": number, "_event_time": row.element.at,
        "_arrival_time": row.arrival, "_partition": row.element.partition, "_offset": str(row.file),
        "_reason": row.reason, "_rule": None, "_raw": None,
    }  # fmt: skip


def _control(lake: ModelLake, number: int) -> Row:
    (stage,) = lake.pipeline.stages
    steps = [MINUS_INFINITY, *(step.ticks[stage.name].clock.watermark_after for step in lake.steps)]
    before, step = steps[number - 1], lake.steps[number - 1]
    read = sum(one.now is not None for one in lake.steps[:number])
    expired = late_until(before, stage.allowed_lateness)
    control = Control(number, "stream", Offsets({"": read}), True, before, _clock(lake, step), late_until=expired)
    return {"tick": number, "_control": control.to_json(), "_kind": "control"}


def _clock(lake: ModelLake, step: Step) -> StageClock:
    (source,), (stage,) = lake.pipeline.sources, lake.pipeline.stages
    clock, delay = step.ticks[stage.name].clock, stage.watermark_over(source.watermark).bounded_delay or 0
    partitions = {
        name or None: PartitionClock(watermark + delay, clock.now)
        for name, watermark in (clock.partitions_after or {}).items()
    }
    of_source = StageClock(now=clock.now, watermark=clock.watermark_after, partitions=partitions)
    return replace(of_source, inputs={ONLY: InputClock(of_source, clock.now)})
