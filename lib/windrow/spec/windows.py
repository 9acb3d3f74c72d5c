"""Window functions: which windows an element falls in. Rule: SEMANTICS section 3.

A window is half-open, `[start, end)`, in microseconds. All fields that are lengths are microseconds too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from windrow.spec.errors import SpecError
from windrow.spec.fields import Kind, Spec, of, unknown_name
from windrow.spec.kinds import DURATION, POSITIVE_DURATION

_SIZE_HINTS = {"length": "size", "duration": "size", "width": "size", "slide": "period", "every": "period"}


class WindowFunction(Spec):
    """The base of all window functions. `NAME` is the name in YAML, `IS_GLOBAL` is true for the one that never ends."""

    NAME: ClassVar[str]
    IS_GLOBAL: ClassVar[bool] = False


@dataclass(frozen=True)
class FixedWindows(WindowFunction):
    """Windows of one size that follow each other: `start = floor((t - offset) / size) * size + offset`.

    Errors: a size that is not positive, an offset outside `0 <= offset < size`.
    """

    NAME = "fixed"
    YAML_LATER = frozenset({"phase"})
    YAML_HINTS = _SIZE_HINTS

    size: int = field(metadata=of(POSITIVE_DURATION))
    offset: int = field(default=0, metadata=of(DURATION))

    def validate(self) -> None:
        if self.offset >= self.size:
            raise SpecError("offset", "must be smaller than size", None, "0 <= offset < size")


@dataclass(frozen=True)
class SlidingWindows(WindowFunction):
    """Windows of one size, one of which starts at every `k * period + offset`; also called hopping.

    With a period smaller than the size they overlap; with a larger one there are gaps, and an element in a gap is
    `unassigned`. Errors: a size or period that is not positive, an offset outside `0 <= offset < period`.
    """

    NAME = "sliding"
    YAML_HINTS = _SIZE_HINTS

    size: int = field(metadata=of(POSITIVE_DURATION))
    period: int = field(metadata=of(POSITIVE_DURATION))
    offset: int = field(default=0, metadata=of(DURATION))

    def validate(self) -> None:
        if self.offset >= self.period:
            raise SpecError("offset", "must be smaller than period", None, "0 <= offset < period")

    @property
    def has_gaps(self) -> bool:
        return self.period > self.size


@dataclass(frozen=True)
class GlobalWindow(WindowFunction):
    """One window, all of time: `[-infinity, +infinity)`. It completes at the watermark +infinity only."""

    NAME = "global"
    IS_GLOBAL = True


WINDOW_FUNCTIONS: Mapping[str, type[WindowFunction]] = {
    cls.NAME: cls for cls in (FixedWindows, SlidingWindows, GlobalWindow)
}
_LATER = frozenset({"calendar", "cumulative", "sessions", "record", "inherited"})
_HINTS = {"tumbling": "fixed", "hopping": "sliding", "session": "sessions", "slide": "sliding", "hop": "sliding"}


def _accept(value: Any) -> WindowFunction:
    if not isinstance(value, WindowFunction):
        raise SpecError("", "must be a window function", value, "for instance FixedWindows(size='1h')")
    return value


def _read(value: Any) -> WindowFunction:
    if not isinstance(value, Mapping) or len(value) != 1:
        raise SpecError("", "must be a mapping with one window function", value, "for instance {fixed: {size: 1h}}")
    ((name, body),) = value.items()
    if name not in WINDOW_FUNCTIONS:
        raise unknown_name(str(name), WINDOW_FUNCTIONS, _LATER, _HINTS, "window function")
    try:
        return WINDOW_FUNCTIONS[name].from_mapping(body if body is not None else {})
    except SpecError as error:
        raise error.within(name) from error


WINDOW = Kind(_accept, _read, lambda window: {window.NAME: window.to_mapping()})
