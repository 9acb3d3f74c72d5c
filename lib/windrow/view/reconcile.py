"""What a comparison of stream and batch came to, in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from windrow.spec.times import format_time
from windrow.view.text.table import table
from windrow.view.text.times import many, moment, window


class Differs(Protocol):
    """A window on which stream and batch differ; None where one of them does not have it."""

    @property
    def key(self) -> Mapping[str, Any]: ...
    @property
    def window_start(self) -> int: ...
    @property
    def window_end(self) -> int: ...
    @property
    def stream(self) -> Mapping[str, Any] | None: ...
    @property
    def batch(self) -> Mapping[str, Any] | None: ...


class Compared(Protocol):
    """The comparison of one stage; `differing` are the first of `number_differing` windows."""

    @property
    def stage(self) -> str: ...
    @property
    def windows(self) -> int: ...
    @property
    def differing(self) -> Sequence[Differs]: ...
    @property
    def number_differing(self) -> int: ...
    @property
    def late_rows(self) -> int: ...
    @property
    def late_windows(self) -> int: ...
    @property
    def not_compared(self) -> Sequence[str]: ...
    @property
    def left(self) -> int: ...
    @property
    def proves_from(self) -> int | None: ...
    @property
    def equal(self) -> bool: ...


def reconciled_text(result: Compared, width: int) -> str:
    """One plain sentence; where the two differ, the windows and both values."""
    late = ""
    if result.late_rows:
        late = f" but for {many(result.late_rows, 'late row')} in {many(result.late_windows, 'window')}"
    sketches = f" (sketches are not compared: {', '.join(result.not_compared)})" if result.not_compared else ""
    if result.proves_from is not None:
        sketches += f" (from {moment(result.proves_from)} on: rows of earlier windows were removed)"
    if result.left:
        sketches += f" ({many(result.left, 'window')} not compared, which a forgetting has left as they were)"
    if result.equal:
        return f"{result.stage}: stream and batch are equal{late}: {many(result.windows, 'window')}{sketches}"
    differ = f"{many(result.number_differing, 'window')} of {result.windows:,}"
    shown = len(result.differing)
    first = "" if shown == result.number_differing else f"; the first {shown}"
    head = f"{result.stage}: stream and batch differ in {differ}{first}" + (f" (left out:{late[8:]})" if late else "")
    return f"{head}{sketches}\n{_differences(result.differing, width)}"


def _differences(differing: Sequence[Differs], width: int) -> str:
    keys = list(differing[0].key)
    rows = []
    for item in differing:
        for side, values in (("stream", item.stream), ("batch", item.batch)):
            bounds = window(item.window_start, item.window_end)
            own = "(no window)" if values is None else ", ".join(f"{name} {value}" for name, value in values.items())
            rows.append([*(item.key[name] for name in keys), bounds, side, own])
    return table([*keys, "window", "in", "values"], rows, width)


def reconciled_mapping(result: Compared) -> dict[str, Any]:
    """The same for machines."""
    return {
        "stage": result.stage,
        "equal": result.equal,
        "windows": result.windows,
        "number_differing": result.number_differing,
        "late_rows": result.late_rows,
        "late_windows": result.late_windows,
        "not_compared": list(result.not_compared),
        "left": result.left,
        "proves_from": None if result.proves_from is None else format_time(result.proves_from),
        "differing": [
            {
                "key": dict(item.key),
                "window_start": format_time(item.window_start),
                "window_end": format_time(item.window_end),
                "stream": item.stream,
                "batch": item.batch,
            }
            for item in result.differing
        ],
    }
