"""The tables of a lake as the reference model would have made them, so that explanations are compared without Spark.

The model has other code than the library for the same rules: windows, triggers, panes, aggregates and expressions.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from tests.laws.strategies import SCHEMA, WEIGHT, Run
from tests.model.stream import Stream
from windrow.drivers.inspect.explain.question import Question
from windrow.engine.clocks.clock import StageClock
from windrow.engine.tick.counters import Counters
from windrow.spec.pipelines.pipeline import Pipeline
from windrow.spec.stages.stage import Stage
from windrow.spec.times import INFINITY, MINUS_INFINITY, saturating_add
from windrow.store.delta.location import Location
from windrow.store.journal.control import Control
from windrow.store.reading.tables import Condition
from windrow.store.upstream.offsets import Offsets

LAKE = "/lake"
COLUMNS = {**SCHEMA, "at": "bigint"}
Row = dict[str, Any]


@dataclass(frozen=True)
class Batch:
    rows: Sequence[Row]

    def to_pylist(self) -> list[Row]:
        return [dict(row) for row in self.rows]


@dataclass(frozen=True)
class Table:
    """A table in memory."""

    kinds: Mapping[str, str]
    content: list[Row]
    last: int = 0
    noted: Mapping[str, Any] = field(default_factory=dict)

    def types(self) -> Mapping[str, str]:
        return self.kinds

    def last_step(self, log: str) -> int:
        return self.last

    def notes(self) -> Mapping[str, Any]:
        return self.noted

    def rows(self, columns: Sequence[str], *conditions: Condition) -> Iterator[Batch]:
        kept = [row for row in self.content if all(holds(row, one) for one in conditions)]
        yield Batch([{name: row[name] for name in columns} for row in kept])


def holds(row: Row, one: Condition) -> bool:
    """Whether a row meets a condition; a null never does."""
    value = row[one.column]
    if value is None:
        return False
    match one.holds:
        case "is known":
            return True
        case "=":
            return bool(value == one.value)
        case "<":
            return bool(value < one.value)
        case "<=":
            return bool(value <= one.value)
        case ">":
            return bool(value > one.value)
        case ">=":
            return bool(value >= one.value)
    raise NotImplementedError(one.holds)


@dataclass
class ModelLake:
    """A lake with one stage, and the pipeline that it is of."""

    pipeline: Pipeline
    tables: dict[str, Table]
    windows: set[tuple[tuple[Any, ...], tuple[int, int]]] = field(default_factory=set)

    def open(self, location: Location) -> Table | None:
        return self.tables.get(location.path.removeprefix(f"{LAKE}/"))

    @property
    def panes(self) -> list[Row]:
        return self.tables[f"{self.stage.name}/panes"].content

    @property
    def stage(self) -> Stage:
        return self.pipeline.stages[0]

    def questions(self) -> Iterator[tuple[Question, tuple[int, int]]]:
        """A question about each window that has shown something, or has a dead letter."""
        for key, window in sorted(self.windows, key=repr):
            texts = {
                name: "null" if value is None else str(value) for name, value in zip(self.stage.keys, key, strict=True)
            }
            start = 0 if window[0] == MINUS_INFINITY else window[0]
            bounds = None if self.stage.window.depends_on_others or window[0] == MINUS_INFINITY else window
            yield Question(self.stage, texts, start, bounds), window


def made_by_model(run: Run, weighted: bool = False) -> ModelLake:
    """The lake after a run."""
    stage = replace(run.stage, name="stage")
    pipeline = Pipeline.from_mapping({**_pipeline(weighted), "stages": [stage.to_mapping()]})
    stream = Stream(stage, SCHEMA, weight=WEIGHT if weighted else None)
    raw: list[Row] = []
    journal: list[Row] = []
    panes: list[Row] = []
    letters: list[Row] = []
    windows = set()
    step, before = 0, MINUS_INFINITY
    for number, tick in enumerate(run.ticks, 1):
        step += bool(tick.elements)
        raw += [_raw(step, row, element, number) for row, element in enumerate(tick.elements)]
        result = stream.tick(tick.elements, tick.now, tick.watermark)
        retracted = sum(pane.row()["weight"] < 0 for pane in result.panes)
        control = Control(
            number, "stream", Offsets({"": step}), True, before, _clock(result.clock),
            late_until=late_until(before, stage.allowed_lateness),
            counters=Counters(panes=len(result.panes) - retracted, retractions=retracted, late=len(result.dead)),
        )  # fmt: skip
        journal.append({"tick": number, "_control": control.to_json(), "_kind": "control"})
        panes += [pane_row(pane) for pane in result.panes]
        windows |= {(pane.key, tuple(pane.window)) for pane in result.panes}
        letters += [letter_row(one, number) for one in result.dead]
        before = result.clock.watermark_after
    kinds = {**stream.typed.result_types, **stream.typed.pane_types}
    envelope = {
        "_step": "bigint", "_row": "bigint", "_event_time": "bigint", "_arrival_time": "bigint",
        "_partition": "string", "_offset": "string", "_reason": "string", "_rule": "string", "_raw": "string",
    }  # fmt: skip
    generations = [{"stage": "stage", "generation": 1, "fingerprint": "{}", "step": 1}]
    tables = {
        "_windrow/generations": Table({}, generations),
        "source/raw": Table({**SCHEMA, **envelope}, raw, step),
        "stage/journal/1": Table({}, journal),
        "stage/panes": Table(kinds, panes, noted=shown_until(len(run.ticks))),
        "stage/dead_letters": Table({}, letters, noted=shown_until(len(run.ticks))),
    }
    return ModelLake(pipeline, tables, windows)


def shown_until(tick: int, generation: int = 1) -> dict[str, int]:
    """What a table says of how far it is made."""
    return {"journal_step": tick, "generation": generation}


def _pipeline(weighted: bool) -> dict[str, Any]:
    source = {
        "name": "source", "files": {"path": "/data"}, "schema": ", ".join(f"{n} {k}" for n, k in COLUMNS.items()),
        "event_time": {"column": "at", "format": "unix_us"}, "watermark": {"bounded_delay": "0s"},
    }  # fmt: skip
    return {"pipeline": "tests", "lake": LAKE, "sources": [{**source, **({"weight": WEIGHT} if weighted else {})}]}


def late_until(watermark: int, lateness: int) -> int:
    return watermark if watermark in (INFINITY, MINUS_INFINITY) else saturating_add(watermark, -lateness)


def _clock(clock: Any) -> StageClock:
    return StageClock(now=clock.now, watermark=clock.watermark_after, percentiles=dict(clock.percentiles_after))


def _raw(step: int, row: int, element: Any, tick: int) -> Row:
    return {
        **element.columns, "_step": step, "_row": row, "_event_time": element.at, "_arrival_time": tick,
        "_partition": None, "_offset": f"file-{step}.json", "_reason": None, "_rule": None, "_raw": None,
    }  # fmt: skip


def pane_row(pane: Any) -> Row:
    row = pane.row()
    start, end = row.pop("window")
    is_global = start == MINUS_INFINITY
    bounds = {"window_start": None if is_global else start, "window_end": None if is_global else end}
    return {**row, "pane_index": row.pop("index"), **bounds}


def letter_row(letter: Any, tick: int) -> Row:
    bounds = (None, None) if letter.window is None or letter.window[0] == MINUS_INFINITY else letter.window
    element = json.dumps(dict(letter.element.columns), default=str)
    steps = {"window_start": bounds[0], "window_end": bounds[1]}
    return {
        "reason": letter.reason, "rule": "", "event_time": letter.event_time, **steps, "element": element,
        "source": "source", "offset": None, "arrived_at": tick, "tick": tick, "restated_by": None,
    }  # fmt: skip


def with_offsets(lake: ModelLake) -> ModelLake:
    """Dead letters with the files of their rows."""
    files = {row["_arrival_time"]: row["_offset"] for row in lake.tables["source/raw"].content}
    for letter in lake.tables["stage/dead_letters"].content:
        letter["offset"] = files[letter["tick"]]
    return lake
