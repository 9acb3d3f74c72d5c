"""A first pipeline file, with a comment behind each line that is a guess. Rule: docs/first-pipeline.md."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

from windrow.spec.times import format_duration
from windrow.view.init.guess import Guess, Time, in_sql
from windrow.view.text.times import about, many, moment

_PLAIN = re.compile(r"[A-Za-z_./][A-Za-z0-9_./-]*")
_WORDS = {"true", "false", "null", "yes", "no", "on", "off"}


def pipeline_file(guess: Guess, data: str, lake: str) -> str:
    """The YAML text of a pipeline over the file `data`, which keeps its tables in `lake`."""
    return "\n".join([*_head(guess), "", *_source(guess, data, lake), *_stage(guess), ""])


def stage_fields(guess: Guess, indent: str) -> list[str]:
    """The fields of the stage that a transcript has too."""
    key = [] if guess.key is None else [f"keys: [{_key(guess.key.column)}]"]
    fields = [
        *key,
        f"window: {{fixed: {{size: {format_duration(guess.size)}}}}}",
        "trigger: {after_watermark: {late: {after_count: 1}}}",
        f"allowed_lateness: {format_duration(guess.lateness.allowed)}",
        "aggregates:",
        f'  {guess.count}: {{count: "*"}}',
        *[
            f"  {kind}_{name}: {{{kind}: {quoted(guess.number(name))}}}"
            for name in guess.measures
            for kind in ("mean", "max")
        ],
    ]
    return [f"{indent}{line}" for line in fields]


def _key(column: str) -> str:
    """A key, with its expression where that is not its name."""
    expression = in_sql(column)
    return column if expression == column else f"{{{column}: {quoted(expression)}}}"


def stage_name(guess: Guess) -> str:
    """The name of the stage."""
    return f"{guess.name}_windows"


def _head(guess: Guess) -> Iterator[str]:
    looked = many(guess.rows, "row") if guess.is_whole else f"the first {many(guess.rows, 'row')}"
    span = f"{moment(guess.first)} to {moment(guess.last)}"
    yield f"# A first pipeline over {guess.path}, guessed from {looked}: from {span}."
    yield "# Every guess has a comment that says why. Change what is wrong; `windrow plan` says what the file means."
    if guess.without_time:
        yield f"# {many(guess.without_time, 'row')} without a time will be dead letters `bad_timestamp`."
    if guess.unreadable:
        yield f"# {many(guess.unreadable, 'line')} with another number of values will be dead letters `unreadable`."


def _source(guess: Guess, data: str, lake: str) -> Iterator[str]:
    yield f"pipeline: {guess.name}"
    yield f"lake: {quoted(lake)}"
    yield "sources:"
    yield f"  - name: {guess.name}"
    header = "" if guess.has_header else ", header: false"
    separator = "" if guess.separator == "," else f", separator: {json.dumps(guess.separator)}"
    files = f"{{path: {quoted(data)}, format: csv{separator}{header}}}"
    pattern = Path(data).with_name(f"{Path(data).stem}*{Path(data).suffix}")
    yield f"    files: {files}  # a pattern such as {pattern} takes new files too, as they come"
    yield "    schema:"
    for column in guess.columns:
        yield f"      {column.name}: {column.kind}{f'  # {_one_line(column.note)}' if column.note else ''}"
    yield from _renamed(guess)
    event = guess.event_time
    yield f"    event_time: {_time(event)}  # {_one_line(event.why)}{_zone(event)}"
    yield from _arrival(guess)
    yield f"    watermark: {{bounded_delay: {format_duration(guess.lateness.delay)}}}  # {_delay(guess)}"


def _renamed(guess: Guess) -> Iterator[str]:
    """Names in the file that are no names of columns."""
    others = [column for column in guess.columns if column.header.lower() != column.name.lower()]
    if guess.has_header and others:
        yield "    rename:  # the names in the file, and those of the columns"
        yield from (f"      {quoted(column.header)}: {column.name}" for column in others)


def _arrival(guess: Guess) -> Iterator[str]:
    if guess.arrival is not None:
        yield f"    arrival_time: {_time(guess.arrival)}  # {_one_line(guess.arrival.why)}"
        return
    yield "    # When rows arrived is not known: no column says it. They arrive when windrow lands them, so a history"
    yield "    # in one file arrives at once. If a column has it: arrival_time: {column: ..., format: ...}"


def _time(time: Time) -> str:
    zone = "" if time.zone is None else f", zone: {time.zone}"
    of_day = "" if time.time_of_day is None else f", time_of_day: {time.time_of_day}"
    return f"{{column: {time.column}{of_day}, format: {quoted(time.format)}{zone}}}"


def _zone(time: Time) -> str:
    return "" if time.zone is None else "; its times say no zone, and UTC is a guess"


def _delay(guess: Guess) -> str:
    late = guess.lateness
    order = "of arrival" if late.by_arrival else "of the file"
    if not late.most:
        return f"a guess: in the order {order} no row is behind a later one"
    return f"in the order {order} 99 % of the rows are at most {about(late.often) or '0m'} behind the latest one"


def _stage(guess: Guess) -> Iterator[str]:
    late = guess.lateness
    yield "stages:"
    first, *rest = stage_fields(guess, "    ")
    yield f"  - name: {stage_name(guess)}"
    for line in (first, *rest):
        yield f"{line}{_comment(guess, line.strip(), late.most)}"


def _comment(guess: Guess, line: str, most: int) -> str:
    name = line.split(":")[0]
    if name == "keys" and guess.key is not None:
        return f"  # {many(guess.key.values, 'value')}"
    if name == "window":
        return "  # the smallest that has a few rows of a key in the mean"
    if name == "trigger":
        return "  # a result when the watermark has reached the end, and a correction for each late row"
    if name == "allowed_lateness":
        return f"  # no row is more than {about(most)} behind a later one" if most else "  # a guess"
    return ""


def quoted(text: str) -> str:
    """A text as YAML has it: plain where it can be."""
    return text if _PLAIN.fullmatch(text) and text.lower() not in _WORDS else json.dumps(text, ensure_ascii=False)


def _one_line(text: str) -> str:
    return " ".join(text.split())
