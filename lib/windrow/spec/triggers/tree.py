"""What every trigger node is, and how a tree of them is read, checked and written. Rule: docs/semantics.md#triggers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from enum import StrEnum
from typing import Any, ClassVar, Literal

from windrow.spec.aggregates import Aggregate, TotalSize
from windrow.spec.errors import SpecError
from windrow.spec.expressions import Expression
from windrow.spec.fields.kinds import choice, list_of
from windrow.spec.fields.reading import Kind, Spec, located, unknown_name
from windrow.spec.fields.typed import Converted, converted, specification


class Domain(StrEnum):
    """The clock of a deadline: processing time (`now`) or event time (the watermark)."""

    PROCESSING_TIME = "processing_time"
    EVENT_TIME = "event_time"


DomainLike = Domain | Literal["processing_time", "event_time"]
DOMAIN: Kind[Domain, DomainLike] = choice(Domain, {"wall_time": "processing_time", "stream_time": "event_time"})


class Then(StrEnum):
    """What becomes of the aggregates at a firing, where the stage lets its triggers decide: cleared, or kept."""

    CLEAR = "clear"
    ACCUMULATE = "accumulate"


ThenLike = Then | Literal["clear", "accumulate"]
THEN: Kind[Then, ThenLike] = choice(Then, {"discard": "clear", "keep": "accumulate"})


@specification
class Trigger(Spec):
    """The base of all trigger nodes.

    `NAME` is the name in YAML. `BODY` is the one field that stands directly under the name (`after_count: 3`), where
    there is one; `children` are the nodes below, in order. `then` is for firings of this node, unless one below on the
    path that fired says otherwise; the accumulations `clear_by_default` and `accumulate_by_default` listen to it.
    """

    NAME: ClassVar[str]
    BODY: ClassVar[str | None] = None

    then: Converted[Then | None, ThenLike | None] = converted(THEN, default=None, kw_only=True)

    @property
    def children(self) -> tuple[Trigger, ...]:
        return ()

    @property
    def aggregates(self) -> Mapping[str, Aggregate]:
        """What the node needs to know of the elements of a tick, by a name of its own."""
        return {}

    @property
    def conditions(self) -> tuple[Expression, ...]:
        """The conditions over the window's results that the node needs to know."""
        return ()

    @property
    def percentiles(self) -> tuple[int, ...]:
        """The percentiles below 100 whose watermark the node looks at."""
        return ()

    def desugared(self) -> Trigger:
        """The tree that the node is short for: itself, but for sugar."""
        return self

    @classmethod
    def read_body(cls, body: Any) -> Trigger:
        """The node of what stands in YAML under its name."""
        if cls.BODY is None:
            if isinstance(body, Mapping) and "then" in body:
                hint = f"{{{cls.NAME}: ..., then: {body['then']}}}"
                raise SpecError("then", "stands beside the name of a trigger, not among its fields", None, hint)
            return cls.from_mapping({} if body is None else body)
        try:
            return cls.from_mapping({cls.BODY: body})
        except SpecError as error:
            place = error.place.removeprefix(cls.BODY).lstrip(".")
            inner = type(error)(place, error.rule, error.got, error.hint)
            inner.is_refusal = error.is_refusal
            raise inner from error


def without_sugar(trigger: Trigger) -> Trigger:
    """The node that it stands for in the end."""
    while (meant := trigger.desugared()) is not trigger:
        trigger = meant
    return trigger


def nodes_of(trigger: Trigger) -> Iterator[Trigger]:
    """The nodes of a tree in preorder, sugar taken out: their order is their numbers."""
    node = without_sugar(trigger)
    yield node
    for child in node.children:
        yield from nodes_of(child)


def tick_aggregates(trigger: Trigger) -> dict[str, Aggregate]:
    """What the nodes of a tree aggregate over the elements of a tick: `t<number>_<name>`."""
    return {
        f"t{number}_{name}": aggregate
        for number, node in enumerate(nodes_of(trigger))
        for name, aggregate in node.aggregates.items()
    }


def percentiles_of(trigger: Trigger) -> tuple[int, ...]:
    """The percentiles below 100 that a tree names, in order."""
    return tuple(sorted({percentile for node in nodes_of(trigger) for percentile in node.percentiles}))


def counts_bytes(trigger: Trigger) -> bool:
    """Whether a node of the tree needs the sizes of elements."""
    return any(isinstance(aggregate, TotalSize) for aggregate in tick_aggregates(trigger).values())


# ---------------------------------------------------------------- the grammar

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
TRIGGER: Kind[Trigger, TriggerLike] = Kind(_accept, _read, _write)
TRIGGER_LIST = list_of(TRIGGER)
