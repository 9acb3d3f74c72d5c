"""What every node of a trigger says of itself. Rule: SEMANTICS section 5."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, ClassVar

from windrow.spec.aggregates import Aggregate
from windrow.spec.errors import SpecError
from windrow.spec.expressions import Expression
from windrow.spec.fields.kinds import choice
from windrow.spec.fields.reading import Spec, of


class Then(StrEnum):
    """What becomes of the aggregates at a firing, where the stage lets its triggers decide: cleared, or kept."""

    CLEAR = "clear"
    ACCUMULATE = "accumulate"


THEN = choice(Then, {"discard": "clear", "keep": "accumulate"})


@dataclass(frozen=True)
class Trigger(Spec):
    """The base of all trigger nodes.

    `NAME` is the name in YAML. `BODY` is the one field that stands directly under the name (`after_count: 3`), where
    there is one; `children` are the nodes below, in order. `then` is for firings of this node, unless one below on the
    path that fired says otherwise; the accumulations `clear_by_default` and `accumulate_by_default` listen to it.
    """

    NAME: ClassVar[str]
    BODY: ClassVar[str | None] = None

    then: Then | None = field(default=None, kw_only=True, metadata=of(THEN))

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
