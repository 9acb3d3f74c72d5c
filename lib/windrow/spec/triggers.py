"""Triggers: when a window emits a pane. A trigger is a tree of the nodes of this file. Rule: SEMANTICS section 5.

A node says what it is; its state machine is `windrow.compile.triggers`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, ClassVar

from windrow.spec.errors import NotInThisVersion, SpecError
from windrow.spec.fields import Kind, Spec, located, of, unknown_name
from windrow.spec.kinds import PERCENTILE, POSITIVE_DURATION, POSITIVE_INTEGER, TIME, ZONE, choice, list_of
from windrow.spec.times import DAY


class Domain(StrEnum):
    """The clock of a deadline: processing time (`now`) or event time (the watermark)."""

    PROCESSING_TIME = "processing_time"
    EVENT_TIME = "event_time"


DOMAIN = choice(Domain, {"wall_time": "processing_time", "stream_time": "event_time"})


class Trigger(Spec):
    """The base of all trigger nodes.

    `NAME` is the name in YAML. `BODY` is the one field that stands directly under the name (`after_count: 3`), where
    there is one; `children` are the nodes below, in order.
    """

    NAME: ClassVar[str]
    BODY: ClassVar[str | None] = None

    @property
    def children(self) -> tuple[Trigger, ...]:
        return ()


def _accept(value: Any) -> Trigger:
    if isinstance(value, Trigger):
        return value
    if isinstance(value, str):
        return _read(value)
    raise SpecError("", "must be a trigger", value, "for instance Repeat(AtWatermark())")


def _read(value: Any) -> Trigger:
    if isinstance(value, str):
        if value in _WORDS:
            return _WORDS[value]
        if value in TRIGGERS:
            raise SpecError("", "is a trigger with fields", value, f"write {{{value}: ...}}")
        raise unknown_name(value, [*_WORDS, *TRIGGERS], _LATER, _HINTS, "trigger")
    if not isinstance(value, Mapping):
        raise SpecError("", "must be a trigger", value, "for instance {repeat: {after_count: 10}}")
    if "then" in value:
        raise NotInThisVersion.named("then", value["then"])
    if len(value) != 1:
        raise SpecError("", "must be a mapping with one trigger", dict(value), "several are in first_of, all_of ...")
    ((name, body),) = value.items()
    if name not in TRIGGERS:
        raise unknown_name(str(name), [*TRIGGERS, *_WORDS], _LATER, _HINTS, "trigger")
    return located(name, TRIGGERS[name].read_body, body)


def _write(trigger: Trigger) -> Any:
    for word, node in _WORDS.items():
        if trigger == node:
            return word
    mapping = trigger.to_mapping()
    return {trigger.NAME: mapping[trigger.BODY] if trigger.BODY else mapping}


TRIGGER = Kind(_accept, _read, _write)
TRIGGER_LIST = list_of(TRIGGER)


class _Node(Trigger):
    @classmethod
    def read_body(cls, body: Any) -> Trigger:
        if cls.BODY is None:
            return cls.from_mapping({} if body is None else body)
        try:
            return cls.from_mapping({cls.BODY: body})
        except SpecError as error:
            place = error.place.removeprefix(cls.BODY).lstrip(".")
            inner = type(error)(place, error.rule, error.got, error.hint)
            inner.is_refusal = error.is_refusal
            raise inner from error


# ---------------------------------------------------------------- leaves


@dataclass(frozen=True)
class AtWatermark(_Node):
    """Ready when the watermark has reached the window's end; after a reset behind that, at every new element."""

    NAME = "at_watermark"
    percentile: int = field(default=100, metadata=of(PERCENTILE))


@dataclass(frozen=True)
class AtPeriod(_Node):
    """Ready at the first `reference + k * period` strictly after the clock at the first new element.

    Whole days and longer follow the local time of `zone`. The clock is that of `domain`.
    """

    NAME = "at_period"
    YAML_HINTS = {"every": "period", "interval": "period"}
    period: int = field(metadata=of(POSITIVE_DURATION))
    reference: int = field(default=0, metadata=of(TIME))
    zone: str = field(default="UTC", metadata=of(ZONE))
    domain: Domain = field(default=Domain.PROCESSING_TIME, metadata=of(DOMAIN))

    @property
    def is_local(self) -> bool:
        """True where the boundaries follow the zone's local time."""
        return self.zone != "UTC" and self.period % DAY == 0


@dataclass(frozen=True)
class AfterDelay(_Node):
    """Ready when the clock of `domain` has reached its value at the first new element plus `delay`."""

    NAME = "after_delay"
    delay: int = field(metadata=of(POSITIVE_DURATION))
    domain: Domain = field(default=Domain.PROCESSING_TIME, metadata=of(DOMAIN))


@dataclass(frozen=True)
class AfterCount(_Node):
    """Ready at `count` elements or more since the node was reset."""

    NAME = "after_count"
    BODY = "count"
    count: int = field(metadata=of(POSITIVE_INTEGER))


@dataclass(frozen=True)
class AtClose(_Node):
    """Ready when the watermark has reached the end plus the allowed lateness: one final result, at expiry."""

    NAME = "at_close"


@dataclass(frozen=True)
class Never(_Node):
    """Never ready; the closing pane at expiry is all there is."""

    NAME = "never"


# ---------------------------------------------------------------- composites


@dataclass(frozen=True, init=False)
class _Several(_Node):
    BODY = "triggers"
    triggers: tuple[Trigger, ...] = field(metadata=of(TRIGGER_LIST))

    def __init__(self, *nodes: Trigger, triggers: Any = None) -> None:
        object.__setattr__(self, "triggers", nodes if triggers is None else triggers)
        self.__post_init__()

    def validate(self) -> None:
        if not self.triggers:
            raise SpecError("", "must hold at least one trigger")

    @property
    def children(self) -> tuple[Trigger, ...]:
        return self.triggers


class FirstOf(_Several):
    """Ready when any of its triggers is; finished after it has fired."""

    NAME = "first_of"


class AllOf(_Several):
    """Ready when every one of its triggers has been ready since the reset; finished after it has fired."""

    NAME = "all_of"


class SequenceOf(_Several):
    """One trigger after the other: only the current one sees elements; finished after the last has finished."""

    NAME = "sequence_of"


@dataclass(frozen=True)
class Repeat(_Node):
    """Its trigger again and again: reset whenever it has finished. Never finished."""

    NAME = "repeat"
    BODY = "repeat"
    repeat: Trigger = field(metadata=of(TRIGGER))

    @property
    def children(self) -> tuple[Trigger, ...]:
        return (self.repeat,)


@dataclass(frozen=True)
class RepeatUntil(_Node):
    """As `Repeat`, but ready also when `until` is, and finished when it fires with `until` ready."""

    NAME = "repeat_until"
    repeat: Trigger = field(metadata=of(TRIGGER))
    until: Trigger = field(metadata=of(TRIGGER))

    @property
    def children(self) -> tuple[Trigger, ...]:
        return (self.repeat, self.until)


@dataclass(frozen=True)
class RepeatCount(_Node):
    """As `Repeat`, finished after `times` firings."""

    NAME = "repeat_count"
    repeat: Trigger = field(metadata=of(TRIGGER))
    times: int = field(metadata=of(POSITIVE_INTEGER))

    @property
    def children(self) -> tuple[Trigger, ...]:
        return (self.repeat,)


@dataclass(frozen=True)
class AfterWatermark(_Node):
    """Short for a sequence: `early` repeated until the watermark, one firing there, then `late` repeated.

    Without `late` it is finished after the firing at the watermark. `desugared` is the sequence.
    """

    NAME = "after_watermark"
    early: Trigger | None = field(default=None, metadata=of(TRIGGER))
    late: Trigger | None = field(default=None, metadata=of(TRIGGER))

    def desugared(self) -> Trigger:
        until: Trigger = AtWatermark() if self.early is None else RepeatUntil(self.early, AtWatermark())
        return until if self.late is None else SequenceOf(until, Repeat(self.late))

    @property
    def children(self) -> tuple[Trigger, ...]:
        return (self.desugared(),)


DEFAULT_TRIGGER: Trigger = Repeat(AtWatermark())

TRIGGERS: dict[str, type[_Node]] = {
    cls.NAME: cls
    for cls in (
        AtWatermark, AtPeriod, AfterDelay, AfterCount, AtClose, Never,
        FirstOf, AllOf, SequenceOf, Repeat, RepeatUntil, RepeatCount, AfterWatermark,
    )
}  # fmt: skip
_WORDS: Mapping[str, Trigger] = {"default": DEFAULT_TRIGGER, "never": Never(), "at_close": AtClose()}
_LATER = frozenset({"after_bytes", "after_match", "when_result"})
_HINTS = {"after_processing_time": "after_delay", "at_count": "after_count", "count": "after_count", "or": "first_of",
          "any_of": "first_of", "and": "all_of", "after_each": "sequence_of", "or_finally": "repeat_until",
          "repeatedly": "repeat", "every": "at_period", "default_trigger": "default"}  # fmt: skip
