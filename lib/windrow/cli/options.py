"""The arguments and options that commands share, and the pipeline that they name."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Annotated, Any

import typer

from windrow.spec.errors import SpecError
from windrow.spec.quality.judgements import GateFailed
from windrow.spec.times import SECOND, format_time, parse_duration, parse_time

Master = Annotated[str | None, typer.Option("--master", metavar="URL", help="Spark's master.", show_default="local[*]")]
Conf = Annotated[
    list[str] | None, typer.Option("--conf", metavar="NAME=VALUE", help="A setting of Spark; may be given again.")
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON for machines.")]
StageName = Annotated[
    str | None, typer.Option("--stage", metavar="NAME", help="This stage only.", show_default="all stages")
]
_TIME = "of the windows' starts, for instance 2013-01-01 or 2013-01-01T05:00:00Z"
From = Annotated[str | None, typer.Option("--from", metavar="TIME", help=f"The first {_TIME}.", show_default=False)]
To = Annotated[str | None, typer.Option("--to", metavar="TIME", help="The end of them, itself left out.")]


@contextmanager
def gate_told(typed: str, report: str | None = None) -> Iterator[None]:
    """A gate that stops within names the pipeline as the command does, and the page. Raises GateFailed."""
    try:
        yield
    except GateFailed as failed:
        failed.typed, failed.report = typed, report
        raise


def pairs_of(option: str, texts: Iterable[str] | None) -> dict[str, str]:
    """`NAME=VALUE` texts as a mapping. Errors: SpecError."""
    pairs = {}
    for text in texts or ():
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise SpecError(option, "must be NAME=VALUE", text)
        pairs[name] = value
    return pairs


def time_of(option: str, text: str | None) -> int | None:
    """A time on the command line in microseconds. Errors: SpecError."""
    if text is None:
        return None
    try:
        return parse_time(text)
    except SpecError as error:
        raise error.within(option) from error


def seconds_of(option: str, text: str) -> float:
    """A duration on the command line in seconds, which must be positive. Errors: SpecError."""
    try:
        duration = parse_duration(text)
        if duration <= 0:
            raise SpecError("", "must be positive", text)
    except SpecError as error:
        raise error.within(option) from error
    return duration / SECOND


def is_before(start: int | None, end: int | None) -> None:
    """Raise SpecError unless --from is before --to."""
    if start is not None and end is not None and start >= end:
        raise SpecError("--to", "must be after --from", format_time(end))


def width() -> int:
    """The columns of the terminal; a file or a pipe is as wide as what is written."""
    try:
        return os.get_terminal_size(1).columns
    except OSError:
        return 200


def print_json(value: Any) -> None:
    """A value as JSON, on stdout."""
    typer.echo(json.dumps(value, indent=2, default=str, ensure_ascii=False))
