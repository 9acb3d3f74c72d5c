"""How a tree of triggers is read and written. Rule: docs/semantics.md#triggers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, fields, replace
from typing import Any

from windrow.spec.errors import SpecError
from windrow.spec.fields import forms
from windrow.spec.fields.forms import Definitions, Form, Json
from windrow.spec.fields.kinds import list_of
from windrow.spec.fields.reading import Kind, form_of, kind_of, located, unknown_name, yaml_name
from windrow.spec.triggers.base import THEN, Trigger

TRIGGERS: dict[str, type[Trigger]] = {}
"""The nodes that a file may name; `windrow.spec.triggers.all` puts windrow's there, `register` those of users."""

WORDS: dict[str, Trigger] = {}
"""The trees that are a word on their own."""

_HINTS = {"after_processing_time": "after_delay", "at_count": "after_count", "count": "after_count", "or": "first_of",
          "any_of": "first_of", "and": "all_of", "after_each": "sequence_of", "or_finally": "repeat_until",
          "repeatedly": "repeat", "every": "at_period", "default_trigger": "default", "at_bytes": "after_bytes",
          "bytes": "after_bytes", "punctuation": "after_match", "after_punctuation": "after_match"}  # fmt: skip


def _accept(value: Any) -> Trigger:
    if isinstance(value, Trigger):
        return value
    if isinstance(value, str):
        return _read(value)
    raise SpecError("", "must be a trigger", value, "for instance Repeat(AtWatermark())")


def _read(value: Any) -> Trigger:
    if isinstance(value, str):
        if value in WORDS:
            return WORDS[value]
        if value in TRIGGERS:
            return _without_fields(value)
        raise unknown_name(value, [*WORDS, *TRIGGERS], (), _HINTS, "trigger")
    if not isinstance(value, Mapping):
        raise SpecError("", "must be a trigger", value, "for instance {repeat: {after_count: 10}}")
    named = {name: body for name, body in value.items() if name != "then"}
    if len(named) != 1:
        raise SpecError("", "must be a mapping with one trigger", dict(value), "several are in first_of, all_of ...")
    ((name, body),) = named.items()
    if name not in TRIGGERS:
        raise unknown_name(str(name), [*TRIGGERS, *WORDS], (), _HINTS, "trigger")
    node = located(name, TRIGGERS[name].read_body, body)
    return node if value.get("then") is None else replace(node, then=located("then", THEN.read, value["then"]))


def _without_fields(name: str) -> Trigger:
    """A trigger by its name alone, where every field may be left out."""
    try:
        return TRIGGERS[name].from_mapping({})
    except SpecError as error:
        raise SpecError("", "is a trigger with fields", name, f"write {{{name}: ...}}") from error


def _write(trigger: Trigger) -> Any:
    for word, node in WORDS.items():
        if trigger == node:
            return word
    mapping = trigger.to_mapping()
    then = {"then": mapping.pop("then")} if "then" in mapping else {}
    return {trigger.NAME: mapping[trigger.BODY] if trigger.BODY else mapping, **then}


TriggerLike = Trigger | str
"""A trigger, or the name of one that has no fields or may leave them all out."""


def _form(definitions: Definitions) -> Json:
    words = forms.one_of([*WORDS, *(name for name, cls in TRIGGERS.items() if _may_be_a_word(cls))])
    return forms.any_of(words, *[_form_of(name, cls) for name, cls in TRIGGERS.items()])(definitions)


def _may_be_a_word(cls: type[Trigger]) -> bool:
    return all(one.default is not MISSING or one.default_factory is not MISSING for one in fields(cls))


def _form_of(name: str, cls: type[Trigger]) -> Form:
    """A trigger under its name, with `then` beside it."""
    body = next((kind_of(one).form for one in fields(cls) if yaml_name(one) == cls.BODY), None)
    if body is None:
        own = form_of(cls, but=("then",))
        body = forms.any_of(own, forms.NULL_FORM) if _may_be_a_word(cls) else own

    def form(definitions: Definitions) -> Json:
        whole = forms.single(name, body)(definitions)
        whole["properties"]["then"] = THEN.form(definitions)
        return whole

    return form


TRIGGER: Kind[Trigger, TriggerLike] = Kind(_accept, _read, _write, forms.named("Trigger", _form))
TRIGGER_LIST = list_of(TRIGGER)
