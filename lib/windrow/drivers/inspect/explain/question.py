"""Which window somebody asks about: a stage, one key, and a time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal, InvalidOperation
from math import isnan
from typing import Any

from windrow.drivers.inspect.show.wanted import NULL
from windrow.spec.errors import SpecError
from windrow.spec.evaluation.casts import moment_of
from windrow.spec.evaluation.kinds import NotEvaluated
from windrow.spec.stages.stage import Stage
from windrow.spec.times import instant, parse_time

Bounds = tuple[int, int]


@dataclass(frozen=True)
class Question:
    """One key of a stage, as texts by the names of the keys (`NULL` for the null key), and a time in microseconds.

    `bounds` are those of the window, where the time alone does not say which is meant. Errors: SpecError for a name
    that is not a key, and for a key that is not named.
    """

    stage: Stage
    keys: Mapping[str, str]
    at: int
    bounds: Bounds | None = None

    def __post_init__(self) -> None:
        names = list(self.stage.keys)
        for name in self.keys:
            if name not in names:
                hint = f"the keys are {', '.join(names)}" if names else "the stage has no keys"
                raise SpecError("--key", f"names what is not a key of {self.stage.name}", name, hint)
        missing = [name for name in names if name not in self.keys]
        if missing:
            hint = " ".join(f"--key {name}=..." for name in names)
            raise SpecError("--key", f"must name the one key to explain: {', '.join(missing)} is missing", None, hint)

    def means(self, key: Mapping[str, Any]) -> bool:
        """Whether these are the values of the key."""
        return all(is_meant(key[name], text) for name, text in self.keys.items())


Asking = datetime | str | int
"""A time inside of a window, or as a text its bounds: `START/END`."""


def time_and_bounds(place: str, at: Asking) -> tuple[int, Bounds | None]:
    """A time in microseconds, and the bounds of the window if they are given. Errors: SpecError, at that place."""
    start, slash, end = at.partition("/") if isinstance(at, str) else (at, "", "")
    first = instant(place, start)
    if not slash:
        return first, None
    bounds = first, instant(place, end)
    if bounds[0] >= bounds[1]:
        raise SpecError(place, "must have its end behind its start", str(at))
    return first, bounds


def is_meant(value: Any, text: str) -> bool:
    """Whether a text stands for a value of a key: as Spark writes it, and a number or a time written otherwise."""
    if value is None or text == NULL:
        return value is None and text == NULL
    if isinstance(value, bool):
        return text.lower() == str(value).lower()
    if isinstance(value, int | float | Decimal):
        return _as_number(value, text) or (isinstance(value, int) and _as_time(value, text))
    return str(value) == text


def _as_number(value: float | Decimal, text: str) -> bool:
    try:
        if isinstance(value, float):
            return value == float(text) or (isnan(value) and isnan(float(text)))
        return value == Decimal(text)
    except (InvalidOperation, ValueError):
        return False


def _as_time(value: int, text: str) -> bool:
    """A timestamp is microseconds here."""
    try:
        return not text.lstrip("+-").isdigit() and moment_of(parse_time(text)) == moment_of(value)
    except (SpecError, NotEvaluated):
        return False


def chosen(windows: list[Bounds], at: int) -> Bounds:
    """Of the windows that hold a time the one that starts last, and of those the one that ends first."""
    holding = [bounds for bounds in windows if bounds[0] <= at < bounds[1]] or windows
    return max(holding, key=lambda bounds: (bounds[0], -bounds[1]))
