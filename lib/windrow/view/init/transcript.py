"""A transcript of ten rows of the reader's own: what the stage makes of them, counted in plain Python.

Rule: docs/transcripts.md.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from windrow.spec.times import format_time
from windrow.view.init.guess import Guess
from windrow.view.init.pipeline_file import stage_fields, stage_name
from windrow.view.text.times import many


def transcript(guess: Guess) -> str:
    """The YAML text: all rows in one tick, then the watermark at the end of the last window."""
    return "\n".join([*_head(guess), *_steps(guess), ""])


def _head(guess: Guess) -> Iterator[str]:
    rows = many(len(guess.sample), "row")
    yield f"# What {stage_name(guess)} makes of {rows} of {guess.path}. `windrow check` runs it."
    yield f"case: the first rows of {guess.name}"
    yield "why: They fall into windows by their event times, and each window is shown when the watermark has passed it."
    yield "stage:"
    yield from stage_fields(guess, "  ")
    columns = [*([guess.key.column] if guess.key else []), *guess.measures]
    kinds = ", ".join(f"{name}: {guess.types[name]}" for name in columns)
    yield f"elements: {{{kinds}}}"


def _steps(guess: Guess) -> Iterator[str]:
    yield "steps:"
    yield "  - add:"
    for at, columns in guess.sample:
        fields = [f"at: {_value(format_time(at))}", *[f"{name}: {_value(one)}" for name, one in columns.items()]]
        yield f"      - {{{', '.join(fields)}}}"
    yield "    expect: []"
    yield f"  - watermark: {_value(format_time(max(end for _, end in _windows(guess))))}"
    yield "    expect:"
    for (key, start), rows in sorted(_grouped(guess).items(), key=lambda item: (item[0][1], str(item[0][0]))):
        bounds = f"[{_value(format_time(start))}, {_value(format_time(start + guess.size))}]"
        own = [] if guess.key is None else [f"{guess.key.column}: {_value(key)}"]
        fields = [*own, f"window: {bounds}", f"{guess.count}: {len(rows)}", *_most(guess, rows), "timing: on_time"]
        yield f"      - {{{', '.join(fields)}}}"


def _most(guess: Guess, rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    for name in guess.measures:
        known = [_number(row[name]) for row in rows if row[name] is not None]
        yield f"max_{name}: {_value(max(known, default=None))}"


def _number(value: Any) -> Any:
    """A value, or the number of a text with a decimal comma."""
    return float(value.replace(".", "").replace(",", ".")) if isinstance(value, str) else value


def _grouped(guess: Guess) -> dict[tuple[Any, int], list[Mapping[str, Any]]]:
    """The rows by key and start of their window."""
    found: dict[tuple[Any, int], list[Mapping[str, Any]]] = {}
    for at, columns in guess.sample:
        key = None if guess.key is None else columns[guess.key.column]
        found.setdefault((key, at // guess.size * guess.size), []).append(columns)
    return found


def _windows(guess: Guess) -> list[tuple[int, int]]:
    starts = [at // guess.size * guess.size for at, _ in guess.sample]
    return [(start, start + guess.size) for start in starts]


def _value(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    text = json.dumps(value)
    return text.replace("e", ".0e") if "e" in text and "." not in text and isinstance(value, float) else text
