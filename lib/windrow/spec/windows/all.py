"""Window functions: which windows an element falls in. Rule: docs/semantics.md#windows.

A new one is a file beside this one, and its name in `WINDOW_FUNCTIONS`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from windrow.spec.errors import SpecError
from windrow.spec.fields import forms
from windrow.spec.fields.forms import Definitions, Json
from windrow.spec.fields.reading import Kind, form_of, unknown_name
from windrow.spec.windows.aligned import CalendarWindows, CumulativeWindows, FixedWindows, GlobalWindow, SlidingWindows
from windrow.spec.windows.base import WindowFunction
from windrow.spec.windows.inherited import InheritedWindows
from windrow.spec.windows.records import RecordWindows
from windrow.spec.windows.sessions import Sessions

WINDOW_FUNCTIONS: dict[str, type[WindowFunction]] = {
    cls.NAME: cls
    for cls in (
        FixedWindows, SlidingWindows, CumulativeWindows, CalendarWindows, Sessions, RecordWindows, GlobalWindow,
        InheritedWindows,
    )
}  # fmt: skip
_HINTS = {
    "tumbling": "fixed", "hopping": "sliding", "session": "sessions", "slide": "sliding", "hop": "sliding",
    "cumulate": "cumulative", "day": "calendar", "daily": "calendar", "month": "calendar", "monthly": "calendar",
}  # fmt: skip


def _accept(value: Any) -> WindowFunction:
    if not isinstance(value, WindowFunction):
        raise SpecError("", "must be a window function", value, "for instance FixedWindows(size='1h')")
    return value


def _read(value: Any) -> WindowFunction:
    if not isinstance(value, Mapping) or len(value) != 1:
        raise SpecError("", "must be a mapping with one window function", value, "for instance {fixed: {size: 1h}}")
    ((name, body),) = value.items()
    if name not in WINDOW_FUNCTIONS:
        raise unknown_name(str(name), WINDOW_FUNCTIONS, (), _HINTS, "window function")
    try:
        return WINDOW_FUNCTIONS[name].from_mapping(body if body is not None else {})
    except SpecError as error:
        raise error.within(name) from error


def _form(definitions: Definitions) -> Json:
    """A window function under its name, in which nothing need stand if all of its fields may be left out."""
    each = [forms.single(name, forms.any_of(form_of(cls), forms.NULL_FORM)) for name, cls in WINDOW_FUNCTIONS.items()]
    return forms.any_of(*each)(definitions)


WINDOW: Kind[WindowFunction, WindowFunction] = Kind(
    _accept, _read, lambda window: {window.NAME: window.to_mapping()}, forms.named("Window", _form)
)
