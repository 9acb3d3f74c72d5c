"""Spans of OpenTelemetry for the work of a driver, where its process traces; elsewhere they cost a look at a dict.

A process traces that was started by `opentelemetry-instrument`, or that has set a tracer provider. windrow itself
neither needs the library nor imports it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

Tell = Callable[..., None]
"""Gives a span attributes that are known only at its end."""


@contextmanager
def span(name: str, **about: str | int) -> Iterator[Tell]:
    """A span `windrow.<name>` as long as the block takes, with attributes `windrow.<name of a value>`."""
    trace = sys.modules.get("opentelemetry.trace")
    if trace is None:
        yield lambda **_: None
        return
    with trace.get_tracer("windrow").start_as_current_span(f"windrow.{name}", attributes=_named(about)) as made:
        yield lambda **more: made.set_attributes(_named(more))


def _named(values: dict[str, str | int]) -> dict[str, str | int]:
    return {f"windrow.{name}": value for name, value in values.items()}
