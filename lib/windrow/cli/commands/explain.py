"""`windrow explain`: why a window shows what it shows."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from windrow.cli.commands.show import StageArgument, keys_of
from windrow.cli.common import Common, command
from windrow.cli.options import Json, print_json, width
from windrow.spec.errors import FAILED

Key = Annotated[
    list[str] | None,
    typer.Option("--key", metavar="NAME=VALUE", help="The key: once for each; the value alone where there is one key."),
]
At = Annotated[
    str,
    typer.Option("--at", metavar="TIME", help="A time inside of the window, or START/END.", show_default=False),
]

Draw = Annotated[
    Path | None,
    typer.Option("--draw", metavar="FILE", help="Write a picture (SVG): event time against processing time."),
]


@command
def explain(
    common: Common,
    stage: StageArgument,
    at: At,
    key: Key = None,
    draw: Draw = None,
    as_json: Json = False,
) -> None:
    """Say why a window of one key shows what it shows: elements, ticks, panes, late rows, and what is missing.

    Counts and values are computed again from the rows; exit code 1 if they are not what the journal has. Times are UTC.

    Example: windrow explain conf/pipelines/flights.yaml departures_hourly --key origin=EWR --key carrier=UA
    --at 2013-01-24T19:30:00Z
    """
    pipeline = common.pipeline
    keys = keys_of(pipeline.stage(stage), key)
    from windrow.drivers.inspect.explain.explain import explain as read
    from windrow.drivers.inspect.explain.question import time_and_bounds

    time_and_bounds("--at", at)  # an error is one of the option
    life = common.looked(lambda spark: read(pipeline, stage, keys, at, spark))
    if draw is not None:
        draw.parent.mkdir(parents=True, exist_ok=True)
        draw.write_text(life.svg())
    if as_json:
        print_json(life.to_mapping())
    else:
        typer.echo(life.text(width()))
    if life.differences:
        raise typer.Exit(FAILED)
