"""What every node of a trigger says of itself. Rule: docs/semantics.md#triggers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from enum import StrEnum
from typing import Any, ClassVar, Literal

from windrow.spec.aggregates import Aggregate
from windrow.spec.errors import SpecError
from windrow.spec.expressions import Expression
from windrow.spec.fields.kinds import choice
from windrow.spec.fields.reading import Kind, Spec
from windrow.spec.fields.typed import Converted, converted, specification
from windrow.spec.triggers.moments import Moment
from windrow.spec.triggers.plan_layout import headed


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

    A class says of itself what follows; the defaults are those of a leaf that may be ready at any time and finishes by
    firing. What a node can do is asked of a fresh one, and without sugar (`without_sugar`): a node that is short for a
    tree has no answers of its own. `leaves_nothing` and the words are asked of the trigger as it was written.
    `NAMES_EXPIRY` is true where its words say what comes when the window expires.
    """

    NAME: ClassVar[str]
    BODY: ClassVar[str | None] = None
    NAMES_EXPIRY: ClassVar[bool] = False

    then: Converted[Then | None, ThenLike | None] = converted(THEN, default=None, kw_only=True)

    @property
    def children(self) -> tuple[Trigger, ...]:
        """The nodes below, in order, without sugar."""
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

    def check_expressions(self) -> None:
        """Refuse state and expressions that do not hold together; raise SpecError."""

    def earliest_ready(self) -> Moment:
        """The earliest moment in a window's life at which the node can be ready."""
        return Moment.BEFORE_WATERMARK

    def earliest_finish(self) -> Moment:
        """The earliest moment at which it can have finished for good: what comes later would be in no result."""
        return self.earliest_ready()

    def finishes_by_firing(self) -> bool:
        """Whether the first firing finishes it for good. Conservative: false where it is not sure."""
        return True

    def sees_end_only(self) -> bool:
        """Whether it looks at nothing but whether the watermark has reached the end of the window."""
        return bool(self.children) and all(child.sees_end_only() for child in self.children)

    def is_watermark(self) -> bool:
        """Whether it fires as `at_watermark` does, and in no other way. Conservative: false where it is not sure."""
        return False

    def leaves_nothing(self) -> bool:
        """Whether a complete window shows each new element in the tick that adds it, so that none is left to be shown.

        Conservative: false where it is not sure.
        """
        return False

    def words(self) -> str:
        """When a leaf fires, for `windrow plan`."""
        return f"when {self.NAME} is ready"

    def plan_lines(self) -> list[str]:
        """The lines of `windrow plan` that say when it fires; what is inside of another is indented.

        What a node asks for with `then` stands behind its own line, or behind the last of those below it.
        """
        if self.then is None:
            return self.own_lines()
        lines = replace(self, then=None).own_lines()
        return [*lines[:-1], f"{lines[-1]} (then: {self.then})"]

    def own_lines(self) -> list[str]:
        """The same without what it asks for; those of sugar are those of the tree that it is short for."""
        meant = without_sugar(self)
        return [self.words()] if meant is self else meant.plan_lines()

    def repeated_lines(self) -> list[str]:
        """The lines of a `repeat` over it."""
        return headed("again and again", self.plan_lines())

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
