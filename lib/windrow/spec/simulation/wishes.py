"""What `--suggest` is asked for: a share of windows that are right at first, or a time by which something is shown.

Rule: docs/simulate.md#suggestions.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum

from windrow.spec.errors import SpecError
from windrow.spec.fields.reading import located
from windrow.spec.times import format_duration, parse_duration

_SHARE = re.compile(r"(\d+(?:\.\d+)?)\s*%")


class Goal(StrEnum):
    """What is wished for: complete results, an on-time pane soon, or any pane soon."""

    COMPLETE = "complete"
    LATENCY = "latency"
    FIRST = "first"


@dataclass(frozen=True)
class Wish:
    """A goal with its share of windows (`complete`) or its length in microseconds (the others)."""

    goal: Goal
    share: Decimal = Decimal(1)
    length: int = 0

    def __str__(self) -> str:
        if self.goal is Goal.COMPLETE:
            return f"{self.goal}={(self.share * 100).normalize():f}%"
        return f"{self.goal}={format_duration(self.length)}"


def wishes_of(texts: Iterable[str]) -> tuple[Wish, ...]:
    """`complete=99%`, `latency=30m` or `first=5m`; a share alone is `complete`. Errors: SpecError with `--suggest`."""
    return tuple(located("--suggest", _wish, text) for text in texts)


def _wish(text: str) -> Wish:
    name, equals, value = text.partition("=")
    if not equals:
        name, value = Goal.COMPLETE, text
    if name not in list(Goal):
        raise SpecError("", "must be complete=SHARE, latency=LENGTH or first=LENGTH", text, "for instance complete=99%")
    if name != Goal.COMPLETE:
        return Wish(Goal(name), length=parse_duration(value))
    found = _SHARE.fullmatch(value.strip())
    share = Decimal(found[1]) / 100 if found else Decimal(-1)
    if not 0 < share <= 1:
        raise SpecError("", "must be a share of windows above 0% and up to 100%", value, "for instance complete=99%")
    return Wish(Goal.COMPLETE, share)
