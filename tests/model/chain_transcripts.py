"""Transcripts of chains and of stages with several inputs, on the model. Strictly read, as the transcripts page says.

The grammar of windrow does not have them yet, so this reader is for tests only: it takes such a case apart into one
ordinary transcript for every stage, and has those read as all transcripts are.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from tests.model.chain import SOURCE, Chain, InputElement
from tests.model.cogroup import CoGroup, stage_fields
from windrow.run.matching import match_step
from windrow.spec.chains import check_reads, check_reads_a_source, upstreams_of
from windrow.spec.documents import load_yaml_documents
from windrow.spec.errors import SpecError
from windrow.spec.expressions import Expression
from windrow.spec.fields import located
from windrow.spec.inherited_windows import InheritedWindows
from windrow.spec.inputs import check_inputs_read
from windrow.spec.kinds import EXPRESSION
from windrow.spec.schemas import Schema, column_type
from windrow.spec.stages import Stage
from windrow.spec.steps import Step, check_fields, read_steps
from windrow.spec.watermarks import Watermark
from windrow.spec.window_function import WindowFunction

CASE_FIELDS = ("case", "why", "stage", "stages", "elements", "size", "weight", "watermark_from", "steps", "rejects")
OF_EACH_STAGE = ("expect", "dead")
"""The fields of a step that are mappings from stage name, where there are `stages`."""


@dataclass(frozen=True)
class ChainStep:
    """One tick: the elements with their inputs, the clock, and what is expected of every stage."""

    elements: tuple[InputElement, ...]
    now: int | None
    watermark: int | None
    expected: Mapping[str, Step]


@dataclass(frozen=True)
class ChainCase:
    """One case: its stages in order with their steps; or the text with which they must be refused."""

    name: str
    stages: tuple[Stage | CoGroup, ...]
    schema: Schema
    watermark: Watermark | Mapping[str, Watermark] | None
    steps: tuple[ChainStep, ...]
    rejects: str | None
    refusal: SpecError | None = None
    size: Expression | None = None
    weight: str | None = None


def is_chain(document: Any) -> bool:
    """Whether a document is such a case: it has stages, or a stage with inputs."""
    stage = document.get("stage") if isinstance(document, Mapping) else None
    return isinstance(document, Mapping) and (
        "stages" in document or (isinstance(stage, Mapping) and "inputs" in stage)
    )


def read_chain_cases(path: Path) -> list[ChainCase]:
    """The cases of a file that are of chains or of several inputs. Errors: SpecError."""
    documents = [one for one in load_yaml_documents(path.read_text(encoding="utf-8")) if is_chain(one)]
    return [located(f"{path.name}: case {one.get('case')!r}", read_case, one) for one in documents]


def read_case(document: Mapping[str, Any]) -> ChainCase:
    """The case of a YAML document. Errors: SpecError; but a refusal of its stages is kept where one is expected."""
    check_fields(document, CASE_FIELDS)
    if ("steps" in document) == ("rejects" in document):
        raise SpecError("steps", "must be there, or rejects")
    kinds = {str(name): located(f"elements.{name}", column_type, kind) for name, kind in document["elements"].items()}
    size = None if document.get("size") is None else located("size", EXPRESSION.read, document["size"])
    case = ChainCase(
        document["case"], (), Schema(kinds), _watermark(document.get("watermark_from")), (), document.get("rejects"),
        size=size, weight=document.get("weight"),
    )  # fmt: skip
    try:
        stages = tuple(_stages(document))
        check_stages(stages)
    except SpecError as error:
        if case.rejects is None:
            raise
        return _with(case, refusal=error)
    return _with(case, stages=stages, steps=() if case.rejects else tuple(_Steps(case, stages, document).read()))


def _with(case: ChainCase, **fields: Any) -> ChainCase:
    return ChainCase(**{**vars(case), **fields})


def _stages(document: Mapping[str, Any]) -> Iterator[Stage | CoGroup]:
    listed = document["stages"] if "stages" in document else [document["stage"]]
    for index, mapping in enumerate(listed):
        place = f"stages[{index}]" if "stages" in document else "stage"
        read = CoGroup.from_mapping if "inputs" in mapping or "join" in mapping else _one_input
        yield located(place, read, mapping)


def _one_input(mapping: Mapping[str, Any]) -> Stage:
    return Stage(**stage_fields(mapping))


def _watermark(body: Any) -> Watermark | Mapping[str, Watermark] | None:
    if body is None:
        return None
    if all(isinstance(value, Mapping) and value for value in body.values()):
        return {name: located(f"watermark_from.{name}", Watermark.from_mapping, rule) for name, rule in body.items()}
    return located("watermark_from", Watermark.from_mapping, body)


# ---------------------------------------------------------------- what reads what


def check_stages(stages: tuple[Stage | CoGroup, ...]) -> None:
    """Refuse stages that do not go with what they read. Errors: SpecError."""
    plain = [one.stage if isinstance(one, CoGroup) else one for one in stages]
    reads, named = upstreams_of(plain), {stage.name: stage for stage in plain}
    windows: dict[str, WindowFunction] = {}
    for index, one in enumerate(stages):
        place, stage = f"stages[{index}]", plain[index]
        if isinstance(one, CoGroup):
            upstreams = {name: _named(place, each.from_, named) for name, each in one.inputs.items() if each.from_}
            made = {name: windows[upstream.name] for name, upstream in upstreams.items()}
            inputs = one.inputs
            located(place, partial(check_inputs_read, inputs=inputs, upstreams=upstreams, windows=made), stage)
            read = next(iter(made.values()), None)
        else:
            upstream = reads[stage.name]
            read = None if upstream is None else windows[upstream.name]
            check = check_reads_a_source if upstream is None else partial(check_reads, upstream=upstream, windows=read)
            located(place, check, stage)
        windows[stage.name] = read if read is not None and stage.window == InheritedWindows() else stage.window


def _named(place: str, name: str, stages: Mapping[str, Stage]) -> Stage:
    if name not in stages:
        raise SpecError(f"{place}.inputs", "reads what is no stage", name)
    return stages[name]


# ---------------------------------------------------------------- steps


@dataclass
class _Steps:
    """The steps of a case, read stage by stage. Only the first stage is asked for watermark and unassigned elements."""

    case: ChainCase
    stages: tuple[Stage | CoGroup, ...]
    document: Mapping[str, Any]
    chain: Chain = field(init=False)

    def __post_init__(self) -> None:
        case = self.case
        self.chain = Chain(self.stages, case.schema, case.watermark, case.size, case.weight)

    def read(self) -> Iterator[ChainStep]:
        names = list(self.chain.stages)
        of_stages = {name: self._of_stage(name, is_first=name == names[0]) for name in names}
        for index, step in enumerate(self.document["steps"]):
            first = of_stages[names[0]][index]
            inputs = [item.get("input") for item in step.get("add", [])]
            elements = [
                InputElement(one.at, one.partition, one.columns, located(f"steps[{index}].input", self._input, name))
                for one, name in zip(first.add, inputs, strict=True)
            ]
            expected = {name: steps[index] for name, steps in of_stages.items()}
            yield ChainStep(tuple(elements), first.now, first.watermark, expected)

    def _of_stage(self, name: str, is_first: bool) -> tuple[Step, ...]:
        running = self.chain.stages[name]
        columns = {of: kind for feed in running.feeds.values() for of, kind in feed.typed.schema.items()}
        steps = [self._step(step, name, is_first) for step in self.document["steps"]]
        makes_watermark = self.case.watermark is not None
        return located("steps", lambda steps: read_steps(steps, running.stage, Schema(columns), makes_watermark), steps)

    def _step(self, step: Any, name: str, is_first: bool) -> Mapping[str, Any]:
        """The step as the one of an ordinary transcript of this stage."""
        for field_name in OF_EACH_STAGE:
            self._check_names(field_name, step.get(field_name))
        mine = {"expect": [], **{of: self._part(step[of], name) for of in OF_EACH_STAGE if of in step}}
        if not is_first:
            return mine
        added = [{key: value for key, value in item.items() if key != "input"} for item in step.get("add", [])]
        rest = {key: value for key, value in step.items() if key not in OF_EACH_STAGE}
        return {**rest, **({"add": added} if "add" in step else {}), **mine}

    def _part(self, part: Any, name: str) -> Any:
        return part.get(name, []) if "stages" in self.document and isinstance(part, Mapping) else part

    def _check_names(self, field_name: str, part: Any) -> None:
        if "stages" not in self.document or part in (None, "any"):
            return
        if not isinstance(part, Mapping) or not set(part) <= set(self.chain.stages):
            raise SpecError(f"steps.{field_name}", f"must map the stages {', '.join(self.chain.stages)}", part)

    def _input(self, name: Any) -> str | None:
        feeds = [item for stage in self.chain.stages.values() for item in stage.feeds.items()]
        known = {of for of, feed in feeds if feed.upstream is None}
        if (name or SOURCE) in known:
            return name
        raise SpecError("", f"must be one of the inputs {', '.join(sorted(known))}", name)


# ---------------------------------------------------------------- checking


def check(case: ChainCase) -> list[str]:
    """What is wrong with a case, as messages that name its step and stage; none if it passes."""
    if case.rejects is not None:
        is_right = case.refusal is not None and case.rejects in str(case.refusal)
        return [] if is_right else [f'expected a refusal with "{case.rejects}"; got {case.refusal}']
    chain = Chain(case.stages, case.schema, case.watermark, case.size, case.weight)
    messages = []
    for number, step in enumerate(case.steps):
        ticks = chain.tick(step.elements, step.now, step.watermark)
        for name, tick in ticks.items():
            found = match_step(
                step.expected[name],
                [pane.row() for pane in tick.panes],
                [letter.row() for letter in tick.dead],
                tick.counts.unassigned,
                tick.clock.watermark_after,
                (*chain.stages[name].stage.keys, *chain.stages[name].stage.result_columns),
            )
            messages += [f"steps[{number}] of {name}: {message}" for message in found]
    return messages
