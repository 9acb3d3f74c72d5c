"""The recipes as transcripts: a tick for each batch of files, and the panes that the reference model shows."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal
from typing import Any

import yaml

from demo.recipes import Recipe
from tests.cookbook.model_lake import ModelLake, Step
from tests.model.elements import DeadLetter
from tests.model.panes import Pane
from windrow.spec.pipelines.documents import load_yaml
from windrow.spec.pipelines.pipeline import Pipeline
from windrow.spec.stages.stage import Stage
from windrow.spec.times import format_time
from windrow.spec.transcripts.steps import TranscriptElement


def case_of(recipe: Recipe, lake: ModelLake) -> str:
    """The YAML text of the case of a recipe, whose files the lake has read."""
    written = load_yaml(recipe.files["pipeline.yaml"])
    head = {"case": recipe.name, "why": f"{recipe.number}. {recipe.title}", **_stages(written), **_of_sources(written)}
    steps = [step for step in lake.steps if step.now is not None]
    lines = [_block(head), "steps:", *(line for step in steps for line in _step(step, lake))]
    return "\n".join(lines) + "\n"


def _block(mapping: Mapping[str, Any]) -> str:
    return yaml.safe_dump(mapping, sort_keys=False, default_flow_style=None, width=1000, allow_unicode=True).rstrip()


def _stages(written: Mapping[str, Any]) -> dict[str, Any]:
    """The stages as the page writes them, without what a transcript says in another way."""
    sources = {source["name"] for source in written["sources"]}
    stages = [_without_from(stage, sources) for stage in written["stages"]]
    if len(stages) > 1:
        return {"stages": stages}
    return {"stage": {name: value for name, value in stages[0].items() if name != "name"}}


def _without_from(stage: Mapping[str, Any], sources: set[str]) -> dict[str, Any]:
    kept = {name: value for name, value in stage.items() if name != "from" or value not in sources}
    if "inputs" in kept:
        kept["inputs"] = {name: _without_from(one, sources) for name, one in kept["inputs"].items()}
    return kept


def _of_sources(written: Mapping[str, Any]) -> dict[str, Any]:
    """Elements, watermarks and weights."""
    pipeline = Pipeline.from_mapping(written)
    rules = {source["name"]: _rule(source["watermark"]) for source in written["sources"]}
    weights = [{"weight": source.weight} for source in pipeline.sources if source.weight is not None]
    several = bool(pipeline.stages[0].inputs)
    return {
        "elements": _columns(pipeline),
        **(weights[0] if weights else {}),
        "watermark_from": rules if several else next(iter(rules.values())),
    }


def _columns(pipeline: Pipeline) -> dict[str, str]:
    """The columns of elements: all but those that only say when a row happened or arrived."""
    times = {one.column for s in pipeline.sources for one in (s.event_time, s.arrival_time) if one is not None}
    return {
        name: kind
        for source in pipeline.sources
        for name, kind in source.schema.items()
        if name not in times or any(_reads(stage, name) for stage in pipeline.stages)
    }


def _reads(stage: Stage, column: str) -> bool:
    """Whether an expression of the stage may read the column."""
    return re.search(rf"\b{column}\b", str(stage.to_mapping())) is not None


def _rule(watermark: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in watermark.items() if name != "max_future"}


# ---------------------------------------------------------------- steps


def _step(step: Step, lake: ModelLake) -> Iterator[str]:
    columns = _columns(lake.pipeline)
    yield "  - add:"
    for element in step.elements:
        yield f"      - {_flow(_element(element, columns))}"
    if any(source.arrival_time is not None for source in lake.pipeline.sources):
        yield f"    now: {_flow(format_time(step.now or 0))}"
    stages, chain = lake.pipeline.stages, len(lake.pipeline.stages) > 1
    expected = {stage.name: [_pane(pane, stage) for pane in step.ticks[stage.name].panes] for stage in stages}
    dead = {stage.name: [_letter(letter) for letter in step.ticks[stage.name].dead] for stage in stages}
    yield from _of_stages("expect", expected, chain)
    if any(dead.values()):
        yield from _of_stages("dead", {name: letters for name, letters in dead.items() if letters}, chain)


def _of_stages(place: str, rows: Mapping[str, Iterable[Mapping[str, Any]]], chain: bool) -> Iterator[str]:
    """A list of rows, or one for each stage of a chain."""
    if not any(rows.values()):
        yield f"    {place}: {{}}" if chain else f"    {place}: []"
        return
    yield f"    {place}:"
    for name, some in rows.items():
        if chain and some:
            yield f"      {name}:"
        for row in some:
            yield f"{'  ' if chain else ''}      - {_flow(row)}"


def _element(element: TranscriptElement, columns: Mapping[str, str]) -> dict[str, Any]:
    given = {"input": element.input, "at": format_time(element.at or 0), "partition": element.partition}
    kept = {name: value for name, value in given.items() if value is not None}
    return {**kept, **{name: value for name, value in element.columns.items() if name in columns}}


def _pane(pane: Pane, stage: Stage) -> dict[str, Any]:
    window = [format_time(bound) for bound in pane.window]
    results = {name: value for name, value in pane.aggregates.items() if name != "row"}
    fields = {"timing": pane.timing, "index": pane.index, "change": pane.change}
    return {**pane.keys, "window": window, **results, **fields}


def _letter(letter: DeadLetter) -> dict[str, Any]:
    window = None if letter.window is None else [format_time(bound) for bound in letter.window]
    return {"at": format_time(letter.event_time or 0), "window": window, "reason": letter.reason}


def _flow(value: Any) -> str:
    """A value on one line of YAML."""
    match value:
        case Mapping():
            return "{" + ", ".join(f"{name}: {_flow(one)}" for name, one in value.items()) + "}"
        case list() | tuple():
            return "[" + ", ".join(map(_flow, value)) + "]"
        case Decimal():
            return json.dumps(str(value))
        case str():
            return _text(value)
    return json.dumps(value)


def _text(text: str) -> str:
    """A text, plain where YAML takes it for one."""
    return text if text.replace("_", "").isalpha() and text not in ("true", "false", "null") else json.dumps(text)
