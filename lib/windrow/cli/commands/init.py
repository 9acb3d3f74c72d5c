"""`windrow init`: a first pipeline file from a CSV file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from windrow.view.init.guess import Guess
from windrow.view.init.pipeline_file import stage_name
from windrow.view.text.times import about, many

Data = Annotated[Path, typer.Argument(metavar="DATA.csv", help="The CSV file.", show_default=False)]
Folder = Annotated[Path, typer.Option("--output", metavar="DIR", help="Where the files are written.")]
Lake = Annotated[str | None, typer.Option("--lake", metavar="PATH", help="The lake.", show_default="lake/<name>")]


def init(data: Data, output: Folder = Path("."), lake: Lake = None) -> None:
    """Look at a CSV file, and write a pipeline file with comments and a transcript of ten of its rows. No Spark.

    Guessed are event time, arrival, key, windows, delay and lateness; each guess says why. No file is overwritten.

    Example: windrow init trips.csv
    """
    from windrow.drivers.init.guess import guess
    from windrow.drivers.init.write import write

    found = guess(data)
    pipeline, cases = write(found, data, output, lake or f"lake/{found.name}")
    typer.echo("\n".join([*_lines(found), "", f"{pipeline}", f"{cases}", "", *_next(found, pipeline, cases)]))


def _lines(guess: Guess) -> list[str]:
    late = guess.lateness
    key = "none that groups the rows"
    if guess.key is not None:
        key = f"{guess.key.column} ({many(guess.key.values, 'value')})"
    arrival = "not known: no column says when a row arrived" if guess.arrival is None else guess.arrival.names
    behind = f"at most {about(late.most)} behind a later row" if late.most else "no row is behind a later one"
    order = "in the order of arrival" if late.by_arrival else "in the order of the file"
    header = [] if guess.has_header else ["header       none, so columns have numbers for names"]
    others = many(guess.unreadable, "line") + " with another number of values"
    lines = [f"unreadable   {others}, which will be dead letters"] if guess.unreadable else []
    return [
        *header,
        *lines,
        f"event time   {guess.event_time.names} ({guess.event_time.format}): {guess.event_time.why}",
        f"arrival      {arrival}",
        f"key          {key}",
        f"lateness     {behind}, {order}",
    ]


def _next(guess: Guess, pipeline: Path, cases: Path) -> list[str]:
    simulate = [f"  windrow simulate {pipeline} --suggest complete=99%"] if guess.arrival is not None else []
    return [
        "next:",
        f"  windrow plan {pipeline}",
        f"  windrow check {cases}",
        f"  windrow run {pipeline} --once",
        f"  windrow show {pipeline} {stage_name(guess)}",
        *simulate,
    ]
