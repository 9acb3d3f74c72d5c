"""The JSON Schemas of pipeline files and transcripts, by which editors complete and check them as they are written.

They are made from the fields and kinds of the specifications, so they know what a file may say, also the names of
extensions that have been registered; which fields go together, only the file's reader knows.
"""

from __future__ import annotations

from windrow.spec.fields import forms
from windrow.spec.fields.forms import Definitions, Form, Json
from windrow.spec.fields.reading import form_of
from windrow.spec.pipelines.pipeline import Pipeline
from windrow.spec.sources.watermarks import Watermark
from windrow.spec.stages.stage import Stage

DRAFT = "https://json-schema.org/draft/2020-12/schema"


def pipeline_schema() -> Json:
    """That of a pipeline file."""
    return _schema("A pipeline file of windrow", form_of(Pipeline))


def transcript_schema() -> Json:
    """That of a case of a transcript. A file of several cases has one in each of its documents."""
    return _schema("A case of a transcript of windrow", _case)


SCHEMAS = {"pipeline": pipeline_schema, "transcript": transcript_schema}


def _schema(title: str, form: Form) -> Json:
    definitions = Definitions()
    whole = form(definitions)
    stage = definitions.found["Stage"]
    stage["required"] = [name for name in stage["required"] if name != "aggregates"]
    stage["anyOf"] = [{"required": ["aggregates"]}, {"required": ["inputs"]}]
    return {"$schema": DRAFT, "title": title, **whole, "$defs": dict(sorted(definitions.found.items()))}


_MOMENT = forms.fixed(type=["string", "number"])
_INFINITE = forms.fixed(type=["string", "number"], description="A time, or max for plus infinity")
_FREE = forms.fixed(type="object")
_EXPECTED = forms.any_of(forms.items(_FREE), forms.one_of(["any"]), _FREE)


def _step(definitions: Definitions) -> Json:
    element = {"type": "object", "required": ["at"], "properties": {"at": {"type": ["string", "number", "null"]}}}
    dead = forms.any_of(forms.items(_FREE), _FREE)
    return {
        "type": "object",
        "properties": {
            "add": {"type": "array", "items": element},
            "watermark": _INFINITE(definitions),
            "now": _MOMENT(definitions),
            "expect": _EXPECTED(definitions),
            "dead": dead(definitions),
            "unassigned": forms.COUNT_FORM(definitions),
            "expect_watermark": {"type": ["string", "number", "null"]},
        },
        "additionalProperties": False,
    }


def _case(definitions: Definitions) -> Json:
    watermark = forms.any_of(form_of(Watermark), forms.values(form_of(Watermark)), forms.NULL_FORM)
    stage = form_of(Stage)
    refused = {"type": "object", "description": "A stage that may be wrong, because it must be refused"}
    return {
        "type": "object",
        "properties": {
            "case": forms.TEXT_FORM(definitions),
            "why": {"type": "string"},
            "stage": {"anyOf": [stage(definitions), refused]},
            "stages": {"type": "array", "items": {"anyOf": [stage(definitions), refused]}},
            "elements": forms.values(forms.TEXT_FORM)(definitions),
            "size": forms.EXPRESSION_FORM(definitions),
            "weight": forms.NAME_FORM(definitions),
            "watermark_from": watermark(definitions),
            "steps": forms.items(forms.named("Step", _step))(definitions),
            "rejects": {"type": "string"},
            "extensions": forms.items(forms.TEXT_FORM)(definitions),
        },
        "required": ["case"],
        "oneOf": [{"required": ["steps"]}, {"required": ["rejects"]}],
        "if": {"required": ["steps"]},
        "then": {
            "properties": {"stage": stage(definitions), "stages": forms.items(stage)(definitions)},
            "anyOf": [{"required": ["stage"]}, {"required": ["stages"]}],
        },
        "additionalProperties": False,
    }
