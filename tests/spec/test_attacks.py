"""Every attack is refused in every place where an expression may stand.

The places are found by looking at the fields of all specifications, so that a new field is attacked too.
"""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from typing import Any

import pytest

import windrow.spec
from tests.lake import pipeline
from tests.spec.attacks import ATTACKS
from windrow.compile.elements.row_rules import broken_names, is_broken
from windrow.spec.aggregates import AGGREGATES
from windrow.spec.errors import SpecError
from windrow.spec.expressions import Expression
from windrow.spec.fields.reading import Spec, kind_of
from windrow.spec.pipelines.pipeline import Pipeline
from windrow.spec.quality.expectations import Expectation

BENIGN = ("v + 1", "total + 1", "v > 1")
WRAPPINGS: tuple[Callable[[str], Any], ...] = (
    lambda text: text,
    lambda text: {"x": text},
    lambda text: [text],
    lambda text: [{"x": text}],
)


def test_there_are_many() -> None:
    assert len(ATTACKS) >= 40 and len(set(ATTACKS.values())) == len(ATTACKS)


# ---------------------------------------------------------------- every field that reads an expression


@dataclass(frozen=True)
class Place:
    """A field of a specification that reads an expression, and how a text is put there."""

    name: str
    read: Callable[[str], Any]


def specifications(base: type[Spec] = Spec) -> Iterator[type[Spec]]:
    for cls in base.__subclasses__():
        if cls.__module__.startswith("windrow."):
            yield cls
        yield from specifications(cls)


def holds_expression(value: Any) -> bool:
    if isinstance(value, Expression):
        return True
    if isinstance(value, Mapping):
        return any(map(holds_expression, value.values()))
    if isinstance(value, tuple | list):
        return any(map(holds_expression, value))
    return isinstance(value, Spec) and any(holds_expression(getattr(value, f.name)) for f in fields(value))


def places() -> dict[str, Place]:
    for module in pkgutil.walk_packages(windrow.spec.__path__, "windrow.spec."):
        importlib.import_module(module.name)
    found = {}
    for cls in sorted(specifications(), key=lambda cls: cls.__name__):
        for field in fields(cls) if is_dataclass(cls) else ():
            for index, wrapping in enumerate(WRAPPINGS):
                read = reading(kind_of(field).read, wrapping)
                if any(is_read(read, text) for text in BENIGN):
                    name = f"{cls.__name__}.{field.name}" + (f"#{index}" if index else "")
                    found[name] = Place(name, read)
    return found


def reading(read: Callable[[Any], Any], wrapping: Callable[[str], Any]) -> Callable[[str], Any]:
    return lambda text: read(wrapping(text))


def is_read(read: Callable[[str], Any], text: str) -> bool:
    try:
        return holds_expression(read(text))
    except SpecError:
        return False


PLACES = places()


def test_the_places_are_found() -> None:
    assert {"Stage.select#1", "Stage.where", "Stage.keys#3", "Stage.derive#1", "Sum.of", "Count.of"} <= set(PLACES)


@pytest.mark.parametrize("name", PLACES)
def test_every_attack_is_refused_in_every_field(name: str) -> None:
    taken = [attack for attack, text in ATTACKS.items() if is_taken(PLACES[name].read, text)]
    assert taken == []


def is_taken(read: Callable[[str], Any], text: str) -> bool:
    """Whether it is not refused; any other error than ours comes out."""
    try:
        read(text)
    except SpecError as error:
        assert 0 < len(str(error)) < 1_500 and error.rule, "it says what is wrong"
        return False
    return True


# ---------------------------------------------------------------- where they stand in a file


def with_stage(**stage: Any) -> dict[str, Any]:
    mapping = pipeline(Path("/tmp")).to_mapping()
    mapping["stages"][0].update(stage)
    return mapping


BODIES: tuple[Callable[[str], Any], ...] = (
    lambda text: text,
    lambda text: {"of": text},
    lambda text: {"of": text, "count": 3},
    lambda text: {"of": text, "at": [0.5]},
    lambda text: {"of": text, "bounds": [1, 2]},
)


def aggregate(name: str) -> Callable[[str], dict[str, Any]]:
    """The pipeline with one more aggregate of that name, in the first form that it can be written in."""
    for body in BODIES:

        def made(text: str, body: Callable[[str], Any] = body) -> dict[str, Any]:
            return with_stage(aggregates={"total": {"sum": "v"}, "x": {name: body(text)}})

        if any(is_built(made(text)) for text in BENIGN):
            return made
    raise AssertionError(f"no form of {name} is known to this test")


def is_built(mapping: dict[str, Any]) -> bool:
    try:
        Pipeline.from_mapping(mapping)
    except SpecError:
        return False
    return True


IN_A_FILE: dict[str, Callable[[str], dict[str, Any]]] = {
    "select.x": lambda text: with_stage(select={"x": text}),
    "where": lambda text: with_stage(where=text),
    "keys[0].x": lambda text: with_stage(keys=[{"x": text}]),
    "keys[0]": lambda text: with_stage(keys=[text]),
    "derive.x": lambda text: with_stage(derive={"x": text}),
    **{f"aggregates.x.{name}": aggregate(name) for name in AGGREGATES},
}


@pytest.mark.parametrize("place", IN_A_FILE)
def test_a_pipeline_with_an_attack_is_not_built(place: str) -> None:
    for attack, text in ATTACKS.items():
        if (place, text) == ("aggregates.x.count", "*"):
            continue  # all elements
        with pytest.raises(SpecError) as refused:
            Pipeline.from_mapping(IN_A_FILE[place](text))
        assert refused.value.place.startswith(f"stages[0].{place.split('[')[0].split('.')[0]}"), attack


NAMES = {
    "a key": lambda text: with_stage(keys=[text]),
    "the name of a key": lambda text: with_stage(keys=[{text: "k"}]),
    "the name of a column": lambda text: with_stage(select={text: "v"}),
    "the name of an aggregate": lambda text: with_stage(aggregates={text: {"count": "*"}}, derive={}),
    "the name of a derived column": lambda text: with_stage(derive={text: "total"}),
    "the name of a stage": lambda text: with_stage(name=text),
}


@pytest.mark.parametrize("place", NAMES)
def test_no_name_is_more_than_a_name(place: str) -> None:
    for text in ("a b", "a`b", "`a`", "a.b", "a, b", "a) from x --", "a\n", "a'b", "${HOME}", "{rows}", "\u0430", ""):
        with pytest.raises(SpecError):
            Pipeline.from_mapping(NAMES[place](text))


SCHEMAS = (
    "k string, v long default (select 1)", "k string comment 'x', v long", "k string; drop table x", "k string -- v",
    "k string, `v` long generated always as (reflect('a', 'b'))", "k string, v array<reflect('a', 'b')>",
    "k ${HOME}", "k string not null options (a 'b')",
)  # fmt: skip


@pytest.mark.parametrize("text", SCHEMAS)
def test_a_schema_has_names_and_types_only(text: str) -> None:
    mapping = with_stage()
    mapping["sources"][0]["schema"] = text
    with pytest.raises(SpecError) as refused:
        Pipeline.from_mapping(mapping)
    assert "schema" in refused.value.place or "schema" in str(refused.value)


# ---------------------------------------------------------------- values of quality suites are values

TEXT = re.compile(r"'(?:[^'\\]|\\.)*'", re.DOTALL)


@pytest.mark.parametrize("attack", ATTACKS)
def test_a_value_of_a_suite_is_one_constant(attack: str) -> None:
    """Whatever it says: without the constants, the text of the rule is the same for every value."""
    text = ATTACKS[attack]
    rule = Expectation.from_mapping({"expect": "column_values_to_be_in_set", "column": "k", "value_set": [text, "b"]})
    plain = Expectation.from_mapping({"expect": "column_values_to_be_in_set", "column": "k", "value_set": ["a", "b"]})
    for render in (is_broken, broken_names):
        ours, theirs = (TEXT.sub("?", render([made], {"k": "string"}).text) for made in (rule, plain))
        assert ours == theirs
