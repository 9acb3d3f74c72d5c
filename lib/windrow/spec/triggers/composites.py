"""The triggers that are made of others. Rule: docs/semantics.md#triggers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from windrow.spec.errors import SpecError
from windrow.spec.fields.kinds import POSITIVE_INTEGER
from windrow.spec.fields.typed import Converted, converted, plain, specification
from windrow.spec.triggers.leaves import AtWatermark
from windrow.spec.triggers.tree import TRIGGER, TRIGGER_LIST, ThenLike, Trigger, TriggerLike


@specification
class _Several(Trigger):
    BODY = "triggers"
    triggers: Converted[tuple[Trigger, ...], Iterable[TriggerLike]] = converted(TRIGGER_LIST)

    def __init__(
        self, *nodes: TriggerLike, triggers: Iterable[TriggerLike] | None = None, then: ThenLike | None = None
    ) -> None:
        object.__setattr__(self, "triggers", nodes if triggers is None else triggers)
        object.__setattr__(self, "then", then)
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


@specification
class Repeat(Trigger):
    """Its trigger again and again: reset whenever it has finished. Never finished."""

    NAME = "repeat"
    BODY = "repeat"
    repeat: Converted[Trigger, TriggerLike] = converted(TRIGGER)

    @property
    def children(self) -> tuple[Trigger, ...]:
        return (self.repeat,)


@specification
class RepeatUntil(Trigger):
    """As `Repeat`, but ready also when `until` is, and finished when it fires with `until` ready."""

    NAME = "repeat_until"
    repeat: Converted[Trigger, TriggerLike] = converted(TRIGGER)
    until: Converted[Trigger, TriggerLike] = converted(TRIGGER)

    @property
    def children(self) -> tuple[Trigger, ...]:
        return (self.repeat, self.until)


@specification
class RepeatCount(Trigger):
    """As `Repeat`, finished after `times` firings."""

    NAME = "repeat_count"
    repeat: Converted[Trigger, TriggerLike] = converted(TRIGGER)
    times: int = plain(POSITIVE_INTEGER)

    @property
    def children(self) -> tuple[Trigger, ...]:
        return (self.repeat,)


@specification
class AfterWatermark(Trigger):
    """Short for a sequence: `early` repeated until the watermark, one firing there, then `late` repeated.

    Without `late` it is finished after the firing at the watermark. `desugared` is the sequence.
    """

    NAME = "after_watermark"
    early: Converted[Trigger | None, TriggerLike | None] = converted(TRIGGER, default=None)
    late: Converted[Trigger | None, TriggerLike | None] = converted(TRIGGER, default=None)

    def desugared(self) -> Trigger:
        until: Trigger = AtWatermark() if self.early is None else RepeatUntil(self.early, AtWatermark())
        meant = until if self.late is None else SequenceOf(until, Repeat(self.late))
        return meant if self.then is None else replace(meant, then=self.then)

    @property
    def children(self) -> tuple[Trigger, ...]:
        return (self.desugared(),)
