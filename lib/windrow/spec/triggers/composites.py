"""The triggers that are made of others. Rule: docs/semantics.md#triggers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from windrow.spec.errors import SpecError
from windrow.spec.fields.kinds import POSITIVE_INTEGER
from windrow.spec.fields.typed import Converted, converted, plain, specification
from windrow.spec.triggers.base import ThenLike, Trigger, without_sugar
from windrow.spec.triggers.grammar import TRIGGER, TRIGGER_LIST, TriggerLike
from windrow.spec.triggers.leaves import AfterCount, AtWatermark
from windrow.spec.triggers.moments import Moment
from windrow.spec.triggers.plan_layout import headed, indented, joined


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
        return tuple(map(without_sugar, self.triggers))

    @property
    def lines_below(self) -> list[str]:
        """The lines of its triggers, one behind the other."""
        return joined(each.plan_lines() for each in self.triggers)


class FirstOf(_Several):
    """Ready when any of its triggers is; finished after it has fired."""

    NAME = "first_of"

    def earliest_ready(self) -> Moment:
        return min(child.earliest_ready() for child in self.children)

    def own_lines(self) -> list[str]:
        return ["once, when the first of these is ready:", *indented(self.lines_below)]


class AllOf(_Several):
    """Ready when every one of its triggers has been ready since the reset; finished after it has fired."""

    NAME = "all_of"

    def earliest_ready(self) -> Moment:
        return max(child.earliest_ready() for child in self.children)

    def own_lines(self) -> list[str]:
        return ["once, when each of these has been ready:", *indented(self.lines_below)]


class SequenceOf(_Several):
    """One trigger after the other: only the current one sees elements; finished after the last has finished."""

    NAME = "sequence_of"

    def earliest_ready(self) -> Moment:
        return self.children[0].earliest_ready()

    def earliest_finish(self) -> Moment:
        return max(child.earliest_finish() for child in self.children)

    def finishes_by_firing(self) -> bool:
        return len(self.children) == 1 and self.children[0].finishes_by_firing()

    def own_lines(self) -> list[str]:
        heads = ["first", *["then"] * (len(self.triggers) - 1)]
        return joined(headed(head, each.plan_lines()) for head, each in zip(heads, self.triggers, strict=True))


@specification
class Repeat(Trigger):
    """Its trigger again and again: reset whenever it has finished. Never finished."""

    NAME = "repeat"
    BODY = "repeat"
    repeat: Converted[Trigger, TriggerLike] = converted(TRIGGER)

    @property
    def children(self) -> tuple[Trigger, ...]:
        return (without_sugar(self.repeat),)

    def earliest_ready(self) -> Moment:
        return self.children[0].earliest_ready()

    def earliest_finish(self) -> Moment:
        return Moment.NEVER

    def finishes_by_firing(self) -> bool:
        return False

    def is_watermark(self) -> bool:
        return self.children[0].is_watermark()

    def leaves_nothing(self) -> bool:
        return self == Repeat(AtWatermark())

    def own_lines(self) -> list[str]:
        return self.repeat.repeated_lines()


@specification
class RepeatUntil(Trigger):
    """As `Repeat`, but ready also when `until` is, and finished when it fires with `until` ready."""

    NAME = "repeat_until"
    repeat: Converted[Trigger, TriggerLike] = converted(TRIGGER)
    until: Converted[Trigger, TriggerLike] = converted(TRIGGER)

    @property
    def children(self) -> tuple[Trigger, ...]:
        return (without_sugar(self.repeat), without_sugar(self.until))

    def earliest_ready(self) -> Moment:
        return min(child.earliest_ready() for child in self.children)

    def earliest_finish(self) -> Moment:
        return self.children[1].earliest_ready()

    def finishes_by_firing(self) -> bool:
        """It is finished by `until` only, so the other must have no firing of its own."""
        return self.children[0].earliest_ready() is Moment.NEVER

    def own_lines(self) -> list[str]:
        again = headed("again and again", self.repeat.plan_lines())
        return [*again, *headed("a last time", self.until.plan_lines())]


@specification
class RepeatCount(Trigger):
    """As `Repeat`, finished after `times` firings."""

    NAME = "repeat_count"
    repeat: Converted[Trigger, TriggerLike] = converted(TRIGGER)
    times: int = plain(POSITIVE_INTEGER)

    @property
    def children(self) -> tuple[Trigger, ...]:
        return (without_sugar(self.repeat),)

    def earliest_ready(self) -> Moment:
        return self.children[0].earliest_ready()

    def finishes_by_firing(self) -> bool:
        return self.times == 1

    def own_lines(self) -> list[str]:
        return headed(f"{self.times} times", self.repeat.plan_lines())


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

    def leaves_nothing(self) -> bool:
        return self.late == AfterCount(1)

    def own_lines(self) -> list[str]:
        early = [] if self.early is None else headed("early", Repeat(self.early).plan_lines())
        late = [] if self.late is None else headed("late", Repeat(self.late).plan_lines())
        return [*early, *headed("on time", AtWatermark().plan_lines()), *late]
