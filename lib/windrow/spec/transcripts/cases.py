"""Transcripts: what a stage is shown, tick by tick, and which panes come out. Strictly read from YAML.

A transcript is a test that a user writes for a stage of their own, and that windrow's tests run on the engine and on
the reference model alike. This module is their values; `windrow.testing.check` runs them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from windrow.spec.errors import NotInThisVersion, SpecError
from windrow.spec.expressions import Expression
from windrow.spec.extensions import EXTENSIONS, load_extensions
from windrow.spec.fields.kinds import EXPRESSION, list_of, nested
from windrow.spec.fields.reading import Named, located
from windrow.spec.fields.schemas import Schema, column_type
from windrow.spec.notebooks import InNotebooks
from windrow.spec.pipelines.documents import load_yaml_documents, read_document
from windrow.spec.sources.watermarks import Watermark
from windrow.spec.stages.cogroups import by_input
from windrow.spec.stages.graph import check_graph, read_by
from windrow.spec.stages.inputs import ONLY, input_path
from windrow.spec.stages.reads import check_columns_read
from windrow.spec.stages.stage import Stage
from windrow.spec.stages.weights import check_takes_back, check_weight
from windrow.spec.transcripts.steps import (
    DEAD_FIELDS,
    ELEMENT_FIELDS,
    PANE_FIELDS,
    Expected,
    Step,
    TranscriptElement,
    check_fields,
    read_steps,
    read_steps_of_chain,
)

__all__ = ["DEAD_FIELDS", "PANE_FIELDS", "Case", "Expected", "Step", "TranscriptElement", "read_transcripts"]


@dataclass(frozen=True)
class Case(InNotebooks):
    """One case: a stage with its ticks; or, with `rejects`, a stage that must be refused with that text.

    `size` is the bytes of an element; without it they are those of its columns as compact JSON. `refusal` is the error
    with which the stage was refused when it was read, if it was.
    """

    name: str
    why: str
    schema: Schema
    stages: tuple[Stage, ...]
    """None where they were refused."""
    watermark_from: Watermark | Mapping[str, Watermark] | None
    """Of each input by its name, where a stage has several."""
    steps: tuple[Step, ...]
    rejects: str | None
    refusal: SpecError | None = field(default=None, compare=False)
    size: Expression | None = None
    weight: str | None = None
    """The column of the elements' weights."""
    is_chain: bool = False
    """Whether it has `stages`, so that what is expected is said of each by its name."""
    broken: SpecError | None = field(default=None, compare=False)
    """What is wrong with the case itself, where it could not be read."""


_CASE_FIELDS = ("case", "why", "stage", "stages", "elements", "size", "weight", "watermark_from", "steps", "rejects",
                "extensions")  # fmt: skip


def read_transcripts(path: str | Path, strict: bool = True) -> list[Case]:
    """The cases of a file, in order. Raises SpecError with file, case and field.

    A stage that cannot be built does not fail the file: its case carries the error. Without `strict` neither does a
    case that cannot be read.
    """
    return read_document(path, lambda text: _cases(load_yaml_documents(text), strict))


_CASE_KEYS = {"case", "stage", "stages", "steps", "rejects"}
"""A file without any of these fields is no file of transcripts, but the data that some are about."""


def _cases(documents: list[Any], strict: bool) -> list[Case]:
    cases: dict[str, Case] = {}
    if documents and all(isinstance(document, Mapping) and not _CASE_KEYS & set(document) for document in documents):
        return []
    for index, document in enumerate(documents):
        name = document.get("case") if isinstance(document, Mapping) else None
        place = f"case {name!r}" if isinstance(name, str) else f"document {index + 1}"
        try:
            case = located(place, _case, document)
            if case.name in cases:
                raise SpecError(place, "is there twice")
        except SpecError as error:
            if strict:
                raise
            case = Case(f"{place} (document {index + 1})", "", Schema.of_columns([]), (), None, (), None, broken=error)
        cases[case.name] = case
    return list(cases.values())


def _case(document: Any) -> Case:
    check_fields(document, _CASE_FIELDS)
    for name in ("case", "why", "rejects", "weight"):
        _check_text(name, document)
    if "case" not in document:
        raise SpecError("case", "is missing")
    if ("stage" in document) == ("stages" in document):
        raise SpecError("stage", "must be there, or stages")
    load_extensions(located("extensions", EXTENSIONS.read, document.get("extensions", [])))
    schema = located("elements", _schema, document.get("elements"))
    size = located("size", lambda text: _size(text, schema), document.get("size"))
    watermark, refusal = None, None
    stages: tuple[Stage, ...] = ()
    try:
        watermark = _watermark(document, schema)
        stages = tuple(_stages(document, schema))
    except SpecError as error:
        refusal = error
    steps = document.get("steps")
    if (steps is None) == ("rejects" not in document):
        raise SpecError("steps", "must be there, or rejects")
    return Case(
        name=document["case"],
        why=document.get("why", "").strip(),
        schema=schema,
        stages=stages,
        watermark_from=watermark,
        weight=document.get("weight"),
        steps=() if not stages or steps is None else _steps(document, stages, schema, watermark),
        rejects=document.get("rejects"),
        size=size,
        refusal=_hard(refusal, document),
        is_chain="stages" in document,
    )


def _check_text(name: str, document: Mapping[str, Any]) -> None:
    if name in document and not isinstance(document[name], str):
        raise SpecError(name, "must be a text", document[name])


def _steps(
    document: Mapping[str, Any],
    stages: tuple[Stage, ...],
    schema: Schema,
    watermark: Watermark | Mapping[str, Watermark] | None,
) -> tuple[Step, ...]:
    def read(steps: Any) -> tuple[Step, ...]:
        if "stages" in document:
            return read_steps_of_chain(steps, stages, schema, watermark is not None)
        return read_steps(steps, stages[0], schema, watermark is not None)

    found = located("steps", read, document["steps"])
    known = {name for of in read_by(stages).values() for name, upstream in of.items() if upstream is None}
    for index, step in enumerate(found):
        for number, element in enumerate(step.add):
            if (element.input or ONLY) not in known:
                rule = f"must be one of the inputs {', '.join(sorted(known))}" if known != {ONLY} else "is for inputs"
                raise SpecError(f"steps[{index}].add[{number}].input", rule, element.input)
    return found


def _hard(refusal: SpecError | None, document: Mapping[str, Any]) -> SpecError | None:
    """A misspelt field is an error of the file; a stage that breaks a rule fails its own case only."""
    if refusal is None or "rejects" in document or refusal.is_refusal or isinstance(refusal, NotInThisVersion):
        return refusal
    raise refusal


def _schema(elements: Any) -> Schema:
    if not isinstance(elements, Mapping):
        raise SpecError("", "must map the element's columns to their types", elements, "{k: string, v: long}")
    columns = [(str(name), located(str(name), column_type, kind)) for name, kind in elements.items()]
    for name, _ in columns:
        if name in ELEMENT_FIELDS:
            raise SpecError(name, "cannot be a column: it is a field of every element", None, f"{name}_value")
    return Schema.of_columns(columns)


def _size(text: Any, schema: Schema) -> Expression | None:
    if text is None:
        return None
    size: Expression = EXPRESSION.read(text)
    schema.require_all(size.columns, "")
    return size


def _watermark(document: Mapping[str, Any], schema: Schema) -> Watermark | Mapping[str, Watermark] | None:
    if document.get("watermark_from") is None:
        return None
    body = document["watermark_from"]
    if isinstance(body, Mapping) and body and all(isinstance(value, Mapping) and value for value in body.values()):
        return Named({name: _rule(f"watermark_from.{name}", rule, schema) for name, rule in body.items()})
    return _rule("watermark_from", body, schema)


def _rule(place: str, body: Any, schema: Schema) -> Watermark:
    watermark = located(place, Watermark.from_mapping, body)
    for column in () if watermark.punctuated is None else watermark.punctuated.columns:
        schema.require(column, f"{place}.punctuated")
    return watermark


def _stages(document: Mapping[str, Any], schema: Schema) -> Iterator[Stage]:
    if "stages" in document:
        stages = located("stages", list_of(nested(Stage)).read, document["stages"])
        places = [f"stages[{index}]" for index in range(len(stages))]
    else:
        stages, places = (located("stage", Stage.from_mapping, document["stage"]),), ["stage"]
    if "weight" in document:
        check_weight(document["weight"], schema)
    read = read_by(stages)
    for place, stage in zip(places, stages, strict=True):
        for name, by_itself in by_input(stage).items():
            if read[stage.name][name] is None:
                over = partial(_check_over, schema=schema, is_weighted="weight" in document)
                located(input_path(name, place), over, by_itself)
        located(place, _check_names, stage)
    _check_graph(stages, places)
    yield from stages


def _check_over(stage: Stage, schema: Schema, is_weighted: bool) -> None:
    check_columns_read(stage, schema)
    if is_weighted:
        check_takes_back(stage)


def _check_graph(stages: tuple[Stage, ...], places: list[str]) -> None:
    """Refuse stages that do not go with what they read; that breaks a rule, and is no misspelt field."""
    try:
        check_graph(stages, places=places)
    except SpecError as error:
        error.is_refusal = True
        raise


def _check_names(stage: Stage) -> None:
    for place, names in (("keys", stage.keys), ("aggregates", stage.aggregates), ("derive", stage.derive)):
        for name in names:
            if name in PANE_FIELDS:
                rule = "cannot be told apart from the field of an expected pane"
                raise SpecError(f"{place}.{name}", rule, None, f"in a transcript call it {name}_value")
