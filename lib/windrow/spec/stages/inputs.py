"""The inputs of a co-group and of a join: elements of several kinds in one window.

Rule: docs/semantics.md#several-inputs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from windrow.spec.aggregates import AGGREGATES_BY_NAME, Aggregate, Collect
from windrow.spec.errors import SpecError
from windrow.spec.expressions import Expression
from windrow.spec.fields.kinds import EXPRESSION, EXPRESSIONS, NAME, choice, mapping_of, nested
from windrow.spec.fields.reading import Kind, Named, Spec
from windrow.spec.fields.typed import Converted, ExpressionLike, converted, plain, specification
from windrow.spec.stages.keys import KEYS, RESERVED_NAMES, KeysLike
from windrow.spec.stages.refusals import Each, Refusal, Rule, refuse


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
        refuse(INPUT, self)

    @property
    def results(self) -> tuple[str, ...]:
        """The names that the input adds to the results."""
        return (*self.aggregates, *self.columns)

    @property
    def gathered(self) -> Named[Aggregate]:
        """What is computed of its elements in a window: its aggregates; its columns as lists."""
        columns = {name: Collect(expression) for name, expression in self.columns.items()}
        return Named({**self.aggregates, **columns})


INPUT: tuple[Rule[Input], ...] = (
    Refusal(
        "columns",
        applies=lambda one: bool(one.aggregates and one.columns),
        rule="does not go with aggregates: a join has columns, a co-group aggregates",
        got=lambda one: ", ".join(one.columns),
    ),
)
"""Fields of one input that do not go together."""

JoinLike = JoinKind | Literal["inner", "left", "right", "full"]
JOIN: Kind[JoinKind, JoinLike] = choice(
    JoinKind, {"outer": "full", "full_outer": "full", "left_outer": "left", "right_outer": "right"}
)
INPUTS: Kind[Named[Input], Mapping[str, Input]] = mapping_of(nested(Input))
OF_INPUTS = ("from", "select", "explode", "element_time", "where", "keys", "aggregates")
"""The fields of a stage that stand in its inputs, where it has several."""


@dataclass(frozen=True)
class Group:
    """The inputs of a stage, and how their rows are joined, if they are."""

    inputs: Mapping[str, Input]
    join: JoinKind | None

    @property
    def members(self) -> list[Member]:
        """Each input, as one of the group."""
        return [Member(name, one, self) for name, one in self.inputs.items()]


@dataclass(frozen=True)
class Member:
    """One of several inputs."""

    name: str
    input: Input
    group: Group

    @property
    def keys(self) -> list[str]:
        return list(self.input.keys)

    @property
    def first(self) -> Member:
        """The first input, whose keys the others must have."""
        return self.group.members[0]


MEMBERS: tuple[Rule[Member], ...] = (
    Refusal(
        lambda one: f"inputs.{one.name}.aggregates",
        applies=lambda one: one.group.join is not None and bool(one.input.aggregates),
        rule="does not go with a join, which shows rows",
        got=lambda one: ", ".join(one.input.aggregates),
        hint="columns; or leave join out",
    ),
    Refusal(
        lambda one: f"inputs.{one.name}.aggregates",
        applies=lambda one: one.group.join is None and not one.input.aggregates,
        rule="must be there: a co-group aggregates each of its inputs",
        hint="or join: inner, with columns",
    ),
)
"""What an input computes."""

KEYS_OF_MEMBERS: tuple[Rule[Member], ...] = (
    Refusal(
        lambda one: f"inputs.{one.name}.keys",
        applies=lambda one: one.keys != one.first.keys,
        rule=lambda one: (
            f"must have the names of those of {one.first.name}, in their order: {', '.join(one.first.keys) or 'none'}"
        ),
        got=lambda one: ", ".join(one.keys) or "none",
        hint=lambda one: f"{{{one.first.keys[0]}: EXPRESSION}} gives a key its name" if one.first.keys else None,
    ),
)

GROUPS: tuple[Rule[Group], ...] = (
    Refusal(
        "inputs",
        applies=lambda group: len(group.inputs) < 2 or (group.join is not None and len(group.inputs) > 2),
        rule=lambda group: (
            "must be two for a join, the left and the right one" if group.join else "must be two or more"
        ),
        got=lambda group: ", ".join(group.inputs) or "none",
        hint="a third input is for a stage behind the join",
    ),
    Refusal(
        "inputs",
        applies=lambda group: len({name.lower() for name in group.inputs}) < len(group.inputs),
        rule="must have names that differ in more than their case",
        got=lambda group: ", ".join(group.inputs),
    ),
    Each(lambda group: group.members, MEMBERS),
    Refusal(
        "inputs",
        applies=lambda group: group.join is not None and not any(one.columns for one in group.inputs.values()),
        rule="must have columns for the join to show",
        hint="for instance columns: [item]",
    ),
    Each(lambda group: group.members, KEYS_OF_MEMBERS),
)
"""Inputs of one stage that do not go together."""


def check_inputs(inputs: Mapping[str, Input], join: JoinKind | None) -> None:
    """Refuse inputs that do not go together. Errors: SpecError.

    There are two or more, exactly two for a join; all have the same keys by name; no other name is there twice.
    """
    refuse(GROUPS, Group(inputs, join))
    _check_names(inputs)


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
