"""Transcripts: what a stage is shown, tick by tick, and which panes come out. Strictly read from YAML.

A transcript is a test that a user writes for a stage of their own, and that windrow's tests run on the engine and on
the reference model alike. This module is their values; `windrow.run.check` runs them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from windrow.spec.documents import load_yaml_documents, read_document
from windrow.spec.errors import NotInThisVersion, SpecError
from windrow.spec.expressions import Expression
from windrow.spec.extensions import EXTENSIONS, load_extensions
from windrow.spec.fields import located
from windrow.spec.kinds import EXPRESSION
from windrow.spec.pipelines import check_columns
from windrow.spec.schemas import Schema, column_type
from windrow.spec.sources import FileFormat, Files, Source
from windrow.spec.stages import Stage
from windrow.spec.steps import (
    DEAD_FIELDS,
    ELEMENT_FIELDS,
    PANE_FIELDS,
    Expected,
    Step,
    TranscriptElement,
    check_fields,
    read_steps,
)
from windrow.spec.watermarks import Watermark
from windrow.spec.weights import check_takes_back, check_weight

__all__ = ["DEAD_FIELDS", "PANE_FIELDS", "Case", "Expected", "Step", "TranscriptElement", "read_transcripts"]


@dataclass(frozen=True)
class Case:
    """One case: a stage with its ticks; or, with `rejects`, a stage that must be refused with that text.

    `size` is the bytes of an element; without it they are those of its columns as compact JSON. `refusal` is the error
    with which the stage was refused when it was read, if it was.
    """

    name: str
    why: str
    schema: Schema
    stage: Stage | None
    watermark_from: Watermark | None
    steps: tuple[Step, ...]
    rejects: str | None
    refusal: SpecError | None = field(default=None, compare=False)
    size: Expression | None = None
    weight: str | None = None
    """The column of the elements' weights."""


_CASE_FIELDS = ("case", "why", "stage", "stages", "elements", "size", "weight", "watermark_from", "steps", "rejects",
                "extensions")  # fmt: skip


def read_transcripts(path: str | Path) -> list[Case]:
    """The cases of a file, in order. Errors: SpecError with file, case and field.

    A stage that cannot be built does not fail the file: its case carries the error.
    """
    return read_document(path, lambda text: _cases(load_yaml_documents(text)))


_MARKS = {"case", "stage", "stages", "steps", "rejects"}
"""A file without any of these fields is no file of transcripts, but the data that some are about."""


def _cases(documents: list[Any]) -> list[Case]:
    cases: dict[str, Case] = {}
    if documents and all(isinstance(document, Mapping) and not _MARKS & set(document) for document in documents):
        return []
    for index, document in enumerate(documents):
        name = document.get("case") if isinstance(document, Mapping) else None
        place = f"case {name!r}" if isinstance(name, str) else f"document {index + 1}"
        case = located(place, _case, document)
        if case.name in cases:
            raise SpecError(place, "is there twice")
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
    watermark, stage, refusal = None, None, None
    try:
        watermark = _watermark(document, schema)
        stage = _stage(document, schema)
    except SpecError as error:
        refusal = error
    steps = document.get("steps")
    if (steps is None) == ("rejects" not in document):
        raise SpecError("steps", "must be there, or rejects")
    return Case(
        name=document["case"],
        why=document.get("why", "").strip(),
        schema=schema,
        stage=stage,
        watermark_from=watermark,
        weight=document.get("weight"),
        steps=() if stage is None or steps is None else _steps(steps, stage, schema, watermark),
        rejects=document.get("rejects"),
        size=size,
        refusal=_hard(refusal, document),
    )


def _check_text(name: str, document: Mapping[str, Any]) -> None:
    if name in document and not isinstance(document[name], str):
        raise SpecError(name, "must be a text", document[name])


def _steps(steps: Any, stage: Stage, schema: Schema, watermark: Watermark | None) -> tuple[Step, ...]:
    return located("steps", lambda steps: read_steps(steps, stage, schema, watermark is not None), steps)


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


def _watermark(document: Mapping[str, Any], schema: Schema) -> Watermark | None:
    if document.get("watermark_from") is None:
        return None
    body = document["watermark_from"]
    if isinstance(body, Mapping) and body and all(isinstance(value, Mapping) and value for value in body.values()):
        raise NotInThisVersion("watermark_from", "of several inputs is not in this version")
    watermark = located("watermark_from", Watermark.from_mapping, body)
    for column in () if watermark.punctuated is None else watermark.punctuated.columns:
        schema.require(column, "watermark_from.punctuated")
    return watermark


def _stage(document: Mapping[str, Any], schema: Schema) -> Stage:
    if "stages" in document:
        raise NotInThisVersion("stages", "that read each other are not in this version")
    stage = located("stage", Stage.from_mapping, document["stage"])
    located("stage", lambda stage: check_columns(stage, _source(schema)), stage)
    if "weight" in document:
        check_weight(document["weight"], schema)
        located("stage", check_takes_back, stage)
    for place, names in (("keys", stage.keys), ("aggregates", stage.aggregates), ("derive", stage.derive)):
        for name in names:
            if name in PANE_FIELDS:
                rule = "cannot be told apart from the field of an expected pane"
                raise SpecError(f"stage.{place}.{name}", rule, None, f"in a transcript call it {name}_value")
    return stage


def _source(schema: Schema) -> Source:
    return Source("elements", schema, None, Watermark(processing_time=True), files=Files("none", FileFormat.PARQUET))
