"""Refusals of well-formed fields that do not go together, as values in lists that are read from the top.

Each subject has its lists, beside what they are about: a stage (`combinations.py`), its inputs (`inputs.py`), the stage
that it reads (`chains.py`), a weighted source (`weights.py`), the tables of a join (`joins.py`). A new refusal is an
entry of one of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from windrow.spec.errors import SpecError

T = TypeVar("T")
T_contra = TypeVar("T_contra", contravariant=True)
Part = TypeVar("Part")


class Rule(Protocol[T_contra]):
    """What may stand in a list."""

    def check(self, subject: T_contra) -> None:
        """Raise the SpecError of what is refused."""


@dataclass(frozen=True)
class Refusal(Generic[T]):
    """A combination that is refused where it `applies`, and the error that says so, as in `SpecError`.

    A text is either the same for every subject or made of it.
    """

    place: str | Callable[[T], str]
    applies: Callable[[T], bool]
    rule: str | Callable[[T], str]
    got: Callable[[T], Any] | None = None
    hint: str | Callable[[T], str | None] | None = None
    error: type[SpecError] = SpecError

    def check(self, subject: T) -> None:
        """Raise the error where the refusal applies."""
        if self.applies(subject):
            said = (one(subject) if callable(one) else one for one in (self.place, self.rule, self.got, self.hint))
            place, rule, got, hint = said
            raise self.error(str(place), str(rule), got, hint)


@dataclass(frozen=True)
class Each(Generic[T, Part]):
    """Refusals of each of several parts of the subject: the first part that one of them applies to is refused."""

    parts: Callable[[T], Iterable[Part]]
    rules: Sequence[Rule[Part]]

    def check(self, subject: T) -> None:
        """Raise the error of the first part that is refused."""
        for part in self.parts(subject):
            refuse(self.rules, part)


def refuse(rules: Sequence[Rule[T]], subject: T) -> None:
    """Raise the first refusal of a list that applies. Errors: SpecError."""
    for rule in rules:
        rule.check(subject)
