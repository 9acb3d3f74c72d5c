"""The JSON Schemas take every file that the reader takes, and refuse what is misspelt."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from tests.spec.pages import ROOT, TEXTS, blocks
from windrow.spec.editors import SCHEMAS
from windrow.spec.errors import SpecError
from windrow.spec.pipelines.documents import load_yaml, load_yaml_documents
from windrow.spec.pipelines.pipeline import Pipeline

PIPELINE = Draft202012Validator(SCHEMAS["pipeline"]())
TRANSCRIPT = Draft202012Validator(SCHEMAS["transcript"]())
TRANSCRIPTS = sorted((ROOT / "tests" / "transcripts").glob("*.yaml"))
OF_EXTENSIONS = {"custom", "own_triggers"}


def errors(validator: Draft202012Validator, value: Any) -> list[str]:
    return [f"{error.json_path}: {error.message}" for error in validator.iter_errors(value)]


def pipelines() -> list[Any]:
    files = [path.read_text() for path in sorted((ROOT / "conf" / "pipelines").glob("*.yaml"))]
    pages = [block for text in TEXTS.values() for block in blocks(text, "yaml") if "\nsources:" in block]
    return [load_yaml(text) for text in (*files, *pages)]


@pytest.mark.parametrize("schema", SCHEMAS.values(), ids=SCHEMAS)
def test_a_schema_is_one(schema: Any) -> None:
    Draft202012Validator.check_schema(schema())


def test_every_pipeline_file_is_taken() -> None:
    found = pipelines()
    assert len(found) > 4
    assert not [errors(PIPELINE, one) for one in found if not one.get("extensions") and errors(PIPELINE, one)]


@pytest.mark.parametrize("path", TRANSCRIPTS, ids=lambda path: path.stem)
def test_every_transcript_is_taken(path: Path) -> None:
    cases = [one for one in load_yaml_documents(path.read_text()) if not one.get("extensions")]
    if not any("case" in one for one in cases):
        pytest.skip("it is the data that transcripts are about, or all cases have extensions")
    assert not [errors(TRANSCRIPT, one) for one in cases if errors(TRANSCRIPT, one)]


WRONG = {
    "a field of the pipeline": lambda one: {**one, "stagez": []},
    "a missing field": lambda one: {name: value for name, value in one.items() if name != "lake"},
    "a trigger": lambda one: with_stage(one, trigger={"after_counts": 3}),
    "a trigger in another": lambda one: with_stage(one, trigger={"repeat": {"first_of": ["never", {"counts": 1}]}}),
    "a window": lambda one: with_stage(one, window={"tumbling": {"size": "1h"}}),
    "a field of a window": lambda one: with_stage(one, window={"fixed": {"length": "1h"}}),
    "a duration": lambda one: with_stage(one, allowed_lateness="1 fortnight"),
    "an accumulation": lambda one: with_stage(one, accumulation="adding"),
    "an aggregate": lambda one: with_stage(one, aggregates={"n": {"counted": "*"}}),
    "a stage without aggregates": lambda one: {**one, "stages": [{"window": {"fixed": {"size": "1h"}}}]},
}


def with_stage(one: Any, **fields: Any) -> Any:
    first, *rest = one["stages"]
    return {**one, "stages": [{**first, **fields}, *rest]}


@pytest.mark.parametrize("change", WRONG.values(), ids=WRONG)
def test_what_is_misspelt_is_refused_by_both(change: Any) -> None:
    right = load_yaml((ROOT / "conf" / "pipelines" / "flights.yaml").read_text())
    wrong = change(right)
    assert not errors(PIPELINE, right) and errors(PIPELINE, wrong)
    with pytest.raises(SpecError):
        Pipeline.from_mapping(wrong)
