"""Triggers of a user's own: state, and what a tick does to it, as Spark SQL expressions.

Rule: docs/pipeline-files.md#triggers-of-your-own.

@windrow.register
@dataclass(frozen=True)
class WhenQuiet(windrow.CustomTrigger):
    NAME = "when_quiet"
    STATE = {"seen_at": ("bigint", None)}
    gap: int = field(metadata=of(POSITIVE_DURATION))

    def on_elements(self):
        return {"seen_at": "now"}

    def ready(self):
        return f"now >= seen_at + {self.gap}"

    def deadline(self):
        return {Domain.PROCESSING_TIME: f"seen_at + {self.gap}"}
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from windrow.spec.errors import SpecError
from windrow.spec.expressions import Expression
from windrow.spec.fields.reading import located
from windrow.spec.fields.schemas import column_type
from windrow.spec.fields.typed import specification
from windrow.spec.triggers.base import Trigger
from windrow.spec.triggers.domains import Domain

CLOCKS = ("now", "watermark_before", "watermark")
"""The clocks that an expression may read: processing time, and the watermark before and after the tick; null where it
is not known yet. All are microseconds."""

AT_HAND = (*CLOCKS, "window_start", "window_end")
"""What every expression may read beside the state. `elements` and the node's aggregates are there in `on_elements`."""

MERGES = ("sum", "min", "max", "any", "all")
"""How a field of several windows that merge becomes one."""


@specification
class CustomTrigger(Trigger):
    """The base of a leaf that a user writes.

    `STATE` has the fields: name, type, and the value after a reset. Each function gives expressions over the state and
    what is at hand (`AT_HAND`). One that fails is null; a condition that is null does not hold. `aggregates` may say
    what `on_elements` wants to know of the tick's elements, and `earliest_ready`, `earliest_finish` and `words` what
    every trigger says.
    """

    STATE: ClassVar[Mapping[str, tuple[str, Any]]] = {}

    def on_elements(self) -> Mapping[str, str]:
        """The fields after elements were added, once a tick; also over `elements`, their number, and the aggregates."""
        return {}

    def ready(self) -> str:
        """Whether the window fires. It is evaluated in ticks that add elements or in which a timer is due."""
        raise NotImplementedError

    def on_fire(self) -> Mapping[str, str]:
        """The fields after a firing, where the node is not reset."""
        return {}

    def finished(self) -> str:
        """Whether a firing finishes the node."""
        return "true"

    def deadline(self) -> Mapping[Domain, str]:
        """The value of a clock, in microseconds, at which the node must be evaluated; null for none."""
        return {}

    def on_merge(self) -> Mapping[str, str]:
        """How the fields of windows that merge become one, by field: one of `MERGES`."""
        return {}

    def finishes_by_firing(self) -> bool:
        return self.finished().strip().lower() == "true"

    def check_expressions(self) -> None:
        for name, (kind, _) in self.STATE.items():
            place = f"trigger.{self.NAME}.STATE.{name}"
            if not name.isidentifier() or name in {*AT_HAND, "elements", *self.aggregates}:
                raise SpecError(place, "is no name for a field: it is taken, or is no name", name)
            located(place, column_type, kind)
        for place, text in _texts(self):
            expression(self, place, text)
        for name, merge in self.on_merge().items():
            if merge not in MERGES:
                raise SpecError(f"trigger.{self.NAME}.on_merge.{name}", f"must be one of {', '.join(MERGES)}", merge)


def expression(trigger: CustomTrigger, place: str, text: str) -> Expression:
    """An expression of a custom trigger. Errors: SpecError, also for a name that is not there."""
    parsed = located(f"trigger.{trigger.NAME}.{place}", Expression.parse, text)
    known = {*AT_HAND, *trigger.STATE}
    if place.startswith("on_elements"):
        known |= {"elements", *trigger.aggregates}
    for column in parsed.columns:
        if column not in known:
            hint = f"one of {', '.join(sorted(known))}"
            raise SpecError(f"trigger.{trigger.NAME}.{place}", "reads what is not there", column, hint)
    return parsed


def _texts(trigger: CustomTrigger) -> Iterator[tuple[str, str]]:
    yield from (("ready", trigger.ready()), ("finished", trigger.finished()))
    yield from ((f"deadline.{domain}", text) for domain, text in trigger.deadline().items())
    for function, fields in (("on_elements", trigger.on_elements()), ("on_fire", trigger.on_fire())):
        for name, text in fields.items():
            if name not in trigger.STATE:
                hint = f"the fields are {', '.join(trigger.STATE) or 'none'}"
                raise SpecError(f"trigger.{trigger.NAME}.{function}", "names a field that STATE has not", name, hint)
            yield f"{function}.{name}", text
