"""The inputs of a co-group and of a join: elements of several kinds in one window.

Rule: docs/semantics.md#several-inputs.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Literal

from windrow.spec.aggregates import AGGREGATES_BY_NAME, Aggregate, Collect
from windrow.spec.errors import SpecError
from windrow.spec.expressions import Expression
from windrow.spec.fields.kinds import EXPRESSION, EXPRESSIONS, NAME, choice, mapping_of, nested
from windrow.spec.fields.reading import Kind, Named, Spec
from windrow.spec.fields.typed import Converted, ExpressionLike, converted, plain, specification
from windrow.spec.stages.keys import KEYS, RESERVED_NAMES, KeysLike


class JoinKind(StrEnum):
    """Which rows of a window a join shows: pairs only, or also rows of the left, the right or either input alone."""

    INNER = "inner"
    LEFT = "left"
    RIGHT = "right"
    FULL = "full"

    @property
    def keeps_left(self) -> bool:
        """Whether a row of the left input is shown where the right one has none."""
        return self in (JoinKind.LEFT, JoinKind.FULL)

    @property
    def keeps_right(self) -> bool:
        """Whether a row of the right input is shown where the left one has none."""
        return self in (JoinKind.RIGHT, JoinKind.FULL)


ONLY = ""
"""The input of a stage that has one, whose fields stand in the stage itself: nobody can give it this name."""


def input_path(name: str, stage: str = "") -> str:
    """Where the fields of an input stand, in a stage at that place."""
    inputs = "" if name == ONLY else f"inputs.{name}"
    return f"{stage}.{inputs}" if stage and inputs else stage or inputs


@specification
class Input(Spec):
    """One input of a stage: which elements, their keys, and what is computed of them.

    `aggregates` are for a co-group, `columns` for a join. `from` is a source or a stage.

    Errors: aggregates and columns in one input.
    """

    YAML_HINTS = {"key": "keys", "on": "keys", "group_by": "keys", "filter": "where", "fields": "columns",
                  "aggregate": "aggregates"}  # fmt: skip

    from_: str | None = plain(NAME, default=None)
    select: Converted[Named[Expression], Mapping[str, ExpressionLike]] = converted(EXPRESSIONS, default=Named())
    where: Converted[Expression | None, ExpressionLike | None] = converted(EXPRESSION, default=None)
    keys: Converted[Named[Expression], KeysLike] = converted(KEYS, default=Named())
    aggregates: Converted[Named[Aggregate], Mapping[str, Aggregate]] = converted(AGGREGATES_BY_NAME, default=Named())
    columns: Converted[Named[Expression], KeysLike] = converted(KEYS, default=Named())

    def validate(self) -> None:
        if self.aggregates and self.columns:
            rule = "does not go with aggregates: a join has columns, a co-group aggregates"
            raise SpecError("columns", rule, ", ".join(self.columns))

    @property
    def results(self) -> tuple[str, ...]:
        """The names that the input adds to the results."""
        return (*self.aggregates, *self.columns)

    @property
    def gathered(self) -> Named[Aggregate]:
        """What is computed of its elements in a window: its aggregates; its columns as lists."""
        columns = {name: Collect(expression) for name, expression in self.columns.items()}
        return Named({**self.aggregates, **columns})


JoinLike = JoinKind | Literal["inner", "left", "right", "full"]
JOIN: Kind[JoinKind, JoinLike] = choice(
    JoinKind, {"outer": "full", "full_outer": "full", "left_outer": "left", "right_outer": "right"}
)
INPUTS: Kind[Named[Input], Mapping[str, Input]] = mapping_of(nested(Input))
OF_INPUTS = ("from", "select", "explode", "element_time", "where", "keys", "aggregates")
"""The fields of a stage that stand in its inputs, where it has several."""


def check_inputs(inputs: Mapping[str, Input], join: JoinKind | None) -> None:
    """Refuse inputs that do not go together. Errors: SpecError.

    There are two or more, exactly two for a join; all have the same keys by name; no other name is there twice.
    """
    if len(inputs) < 2 or (join is not None and len(inputs) > 2):
        rule = "must be two for a join, the left and the right one" if join else "must be two or more"
        raise SpecError("inputs", rule, ", ".join(inputs) or "none", "a third input is for a stage behind the join")
    if len({name.lower() for name in inputs}) < len(inputs):
        raise SpecError("inputs", "must have names that differ in more than their case", ", ".join(inputs))
    _check_kinds(inputs, join)
    _check_keys(inputs)
    _check_names(inputs)


def _check_kinds(inputs: Mapping[str, Input], join: JoinKind | None) -> None:
    for name, one in inputs.items():
        if join is not None and one.aggregates:
            rule = "does not go with a join, which shows rows"
            raise SpecError(f"inputs.{name}.aggregates", rule, ", ".join(one.aggregates), "columns; or leave join out")
        if join is None and not one.aggregates:
            rule = "must be there: a co-group aggregates each of its inputs"
            raise SpecError(f"inputs.{name}.aggregates", rule, None, "or join: inner, with columns")
    if join is not None and not any(one.columns for one in inputs.values()):
        raise SpecError("inputs", "must have columns for the join to show", None, "for instance columns: [item]")


def _check_keys(inputs: Mapping[str, Input]) -> None:
    first, keys = next((name, list(one.keys)) for name, one in inputs.items())
    for name, one in inputs.items():
        if list(one.keys) != keys:
            hint = f"{{{keys[0]}: EXPRESSION}} gives a key its name" if keys else None
            rule = f"must have the names of those of {first}, in their order: {', '.join(keys) or 'none'}"
            raise SpecError(f"inputs.{name}.keys", rule, ", ".join(one.keys) or "none", hint)


def _check_names(inputs: Mapping[str, Input]) -> None:
    keys = {key.lower(): "keys" for one in inputs.values() for key in one.keys}
    taken = dict(keys)
    for name, one in inputs.items():
        for result in (*one.keys, *one.results):
            if result.lower() in RESERVED_NAMES:
                hint = f"a column of every result has this name; for instance {result}_value"
                raise SpecError(f"inputs.{name}", "takes a reserved name", result, hint)
        for result in one.results:
            if result.lower() in taken:
                where = taken[result.lower()]
                hint = f"{name}_{result}, for instance: {{{name}_{result}: {result}}}"
                raise SpecError(f"inputs.{name}", f"gives a name that is also one of {where}", result, hint)
            taken[result.lower()] = f"inputs.{name}"
