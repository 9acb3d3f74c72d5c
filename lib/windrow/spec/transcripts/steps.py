"""The steps of a transcript: what is added in a tick, and which panes and dead letters are expected of it.

Strictly read: a field that is not known or has the wrong type is an error, so that no expectation is lost in silence.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from windrow.spec.errors import SpecError
from windrow.spec.fields.reading import Named, located, unknown_name
from windrow.spec.fields.schemas import Schema
from windrow.spec.fields.values import read_value
from windrow.spec.stages.stage import Stage
from windrow.spec.times import INFINITY, MINUS_INFINITY, parse_time

PANE_FIELDS = ("window", "timing", "index", "on_time_index", "is_first", "is_last", "change", "weight", "trigger",
               "event_time", "watermark_percentile")  # fmt: skip
DEAD_FIELDS = ("window", "reason")
ELEMENT_FIELDS = ("at", "partition", "input")

_STEP_FIELDS = ("add", "watermark", "now", "expect", "dead", "unassigned", "expect_watermark")


@dataclass(frozen=True)
class TranscriptElement:
    """One element: `at` in microseconds (None: could not be read), its source partition, and its columns.

    `input` is the one of a stage with several that it belongs to.
    """

    at: int | None
    partition: str | None
    columns: Named[Any]
    input: str | None = None


@dataclass(frozen=True)
class Expected:
    """One expected pane or dead letter: only the fields that are written. A window is `(start, end)`, times micros."""

    fields: Named[Any]


@dataclass(frozen=True)
class Step:
    """One tick. `watermark` and `now` are None where they do not change; `expect` is None where it is not looked at.

    Of a chain, `behind` says what is expected of the stages behind the first one, by their names.
    """

    add: tuple[TranscriptElement, ...]
    watermark: int | None
    now: int | None
    expect: tuple[Expected, ...] | None
    dead: tuple[Expected, ...]
    unassigned: int | None
    expect_watermark: int | None
    behind: Named[Step] = field(default_factory=Named)

    def of(self, stage: str) -> Step:
        """What is expected of a stage of a chain."""
        return self.behind.get(stage, self)


def read_steps(steps: Any, stage: Stage, schema: Schema | None, makes_watermark: bool) -> tuple[Step, ...]:
    """The steps of a case. `makes_watermark`: the watermark is made from the elements, and no step may give it.

    Without a schema there are no elements, and the columns of dead letters are taken as they are written.
    """
    if not isinstance(steps, list):
        raise SpecError("", "must be a list", steps)
    read = tuple(
        located(f"[{index}]", lambda step: _step(step, stage, schema, makes_watermark), step)
        for index, step in enumerate(steps)
    )
    if not any("expect" in step for step in steps):
        raise SpecError("", "must have an `expect` somewhere")
    for name in ("now", "watermark"):
        _check_never_goes_back(name, read)
    return read


def read_steps_of_chain(steps: Any, stages: Sequence[Stage], schema: Schema, makes_watermark: bool) -> tuple[Step, ...]:
    """The steps of a case of several stages: `expect` and `dead` map their names to what an ordinary case has."""
    if not isinstance(steps, list):
        raise SpecError("", "must be a list", steps)
    names = [stage.name for stage in stages]
    parts = [located(f"[{index}]", partial(_parts_of_chain, names=names), step) for index, step in enumerate(steps)]
    first = read_steps([part[names[0]] for part in parts], stages[0], schema, makes_watermark)
    behind = {
        stage.name: read_steps([part[stage.name] for part in parts], stage, None, makes_watermark)
        for stage in stages[1:]
    }
    return tuple(
        replace(step, behind=Named({name: of_stage[index] for name, of_stage in behind.items()}))
        for index, step in enumerate(first)
    )


_OF_EACH_STAGE = ("expect", "dead")


def _parts_of_chain(step: Any, names: Sequence[str]) -> Mapping[str, Any]:
    """A step as those of ordinary cases, one for each stage; the elements and the clocks are for the first."""
    check_fields(step, _STEP_FIELDS)
    said: dict[str, Mapping[str, Any]] = {}
    for place in _OF_EACH_STAGE:
        part = step.get(place, {})
        if part == "any" and place == "expect":
            part = dict.fromkeys(names, "any")
        if not isinstance(part, Mapping) or not set(part) <= set(names):
            raise SpecError(place, f"must map the stages {', '.join(names)}", part)
        said[place] = part
    rest = {name: value for name, value in step.items() if name not in _OF_EACH_STAGE}
    return {
        name: {**(rest if name == names[0] else {}), **{place: said[place].get(name, []) for place in said}}
        for name in names
    }


def _check_never_goes_back(name: str, steps: tuple[Step, ...]) -> None:
    before: int | None = None
    for index, step in enumerate(steps):
        value = getattr(step, name)
        if value is not None and before is not None and value < before:
            raise SpecError(f"[{index}].{name}", "goes back", None, "time and watermarks never do")
        before = before if value is None else value


def _step(step: Any, stage: Stage, schema: Schema | None, makes_watermark: bool) -> Step:
    check_fields(step, _STEP_FIELDS)
    wrong = "watermark" if makes_watermark else "expect_watermark"
    if wrong in step:
        rule = "must be left out with watermark_from" if makes_watermark else "needs a watermark_from"
        raise SpecError(wrong, rule, step[wrong])
    panes = _pane_readers(stage)
    dead = _dead_readers(schema)
    is_looked_at = step.get("expect") != "any"
    return Step(
        add=_each("add", step, lambda item: _element(item, schema)),
        watermark=_optional("watermark", step, time_of),
        now=_optional("now", step, parse_time),
        expect=_each("expect", step, lambda item: _expected(item, panes)) if is_looked_at else None,
        dead=_each("dead", step, lambda item: _expected(item, dead)),
        unassigned=_optional("unassigned", step, _number_of),
        expect_watermark=_optional("expect_watermark", step, time_of),
    )


def check_fields(document: Any, known: tuple[str, ...]) -> None:
    """Raise SpecError unless it is a mapping with these fields only."""
    if not isinstance(document, Mapping):
        raise SpecError("", "must be a mapping", document)
    for name in document:
        if name not in known:
            raise unknown_name(str(name), known, (), {}, "field")


def _each(place: str, step: Mapping[str, Any], read: Callable[[Any], Any]) -> tuple[Any, ...]:
    items = step.get(place, [])
    if not isinstance(items, list):
        raise SpecError(place, "must be a list", items)
    return tuple(located(f"{place}[{index}]", read, item) for index, item in enumerate(items))


def _optional(place: str, step: Mapping[str, Any], read: Callable[[Any], int]) -> int | None:
    return None if step.get(place) is None else located(place, read, step[place])


# ---------------------------------------------------------------- elements


def _element(item: Any, schema: Schema | None) -> TranscriptElement:
    assert schema is not None, "a stage that reads a stage is given no elements"
    check_fields(item, (*ELEMENT_FIELDS, *schema))
    if "at" not in item:
        raise SpecError("at", "is missing")
    at = None if item["at"] is None else located("at", parse_time, item["at"])
    partition = located("partition", _partition, item.get("partition"))
    return TranscriptElement(at, partition, Named(_columns(item, schema)), item.get("input"))


def _columns(item: Mapping[str, Any], schema: Schema) -> Iterator[tuple[str, Any]]:
    for name, kind in schema.items():
        yield name, located(name, partial(read_value, kind), item.get(name))


def _partition(value: Any) -> str | None:
    if value is not None and (isinstance(value, bool) or not isinstance(value, str | int)):
        raise SpecError("", "must be a text", value)
    return None if value is None else str(value)


# ---------------------------------------------------------------- what is expected


def _expected(item: Any, readers: Mapping[str, Callable[[Any], Any]] | None) -> Expected:
    if readers is not None:
        check_fields(item, tuple(readers))
    elif not isinstance(item, Mapping):
        raise SpecError("", "must be a mapping", item)
    else:
        readers = {**dict.fromkeys(map(str, item), _as_it_is), **_DEAD}
    return Expected(Named([(name, located(name, readers[name], value)) for name, value in item.items()]))


def _as_it_is(value: Any) -> Any:
    return value


def _pane_readers(stage: Stage) -> Mapping[str, Callable[[Any], Any]]:
    """How each field of an expected pane is read; keys and aggregates are taken as they are written."""
    return {**dict.fromkeys((*stage.keys, *stage.result_columns), _as_it_is), **_PANE}


def _dead_readers(schema: Schema | None) -> Mapping[str, Callable[[Any], Any]] | None:
    if schema is None:
        return None
    return {**{name: partial(read_value, kind) for name, kind in schema.items()}, **_DEAD}


def time_of(value: Any) -> int:
    """A time of a transcript; `max` is +infinity, `min` -infinity."""
    if value in ("max", "min"):
        return INFINITY if value == "max" else MINUS_INFINITY
    return parse_time(value)


def _or_null(read: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda value: None if value is None else read(value)


def _window(value: Any) -> tuple[int, int]:
    if value == "global":
        return (MINUS_INFINITY, INFINITY)
    if not isinstance(value, list) or len(value) != 2:
        raise SpecError("", "must be [start, end] or global", value)
    start, end = (located(f"[{index}]", time_of, bound) for index, bound in enumerate(value))
    if start >= end:
        raise SpecError("", "must end after it starts", value)
    return start, end


def _number_of(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise SpecError("", "must be a whole number from 0 on", value)
    return value


def _flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise SpecError("", "must be true or false", value)
    return value


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise SpecError("", "must be a text", value)
    return value


def _one_of(*options: Any) -> Callable[[Any], Any]:
    def read(value: Any) -> Any:
        if value not in options or isinstance(value, bool):
            raise SpecError("", f"must be one of {', '.join(map(str, options))}", value)
        return value

    return read


_PANE: Mapping[str, Callable[[Any], Any]] = {
    "window": _window,
    "timing": _one_of("early", "on_time", "late"),
    "index": _number_of,
    "on_time_index": _or_null(_number_of),
    "is_first": _flag,
    "is_last": _flag,
    "change": _one_of("insert", "update_preimage", "update_postimage", "delete"),
    "weight": _one_of(1, -1),
    "trigger": _text,
    "event_time": _or_null(time_of),
    "watermark_percentile": _or_null(_number_of),
}
_DEAD: Mapping[str, Callable[[Any], Any]] = {
    "at": _or_null(parse_time),
    "partition": _partition,
    "window": _or_null(_window),
    "reason": _text,
}
