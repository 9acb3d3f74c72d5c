"""`windrow show`: the windows of a stage."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated

import typer

from windrow.cli.common import Common, command
from windrow.cli.options import Json, pairs_of, print_json, time_of, width
from windrow.spec.stages.stage import Stage

StageArgument = Annotated[str, typer.Argument(metavar="STAGE", help="A stage of the file.", show_default=False)]
Key = Annotated[
    list[str] | None,
    typer.Option("--key", metavar="NAME=VALUE", help="Windows of this key; the value alone where there is one key."),
]
At = Annotated[str | None, typer.Option("--at", metavar="TIME", help="Windows that hold this time.")]
Panes = Annotated[bool, typer.Option("--panes", help="Every pane and retraction, in place of the current result.")]
Limit = Annotated[int, typer.Option("--limit", min=1, help="At most so many rows, the newest.")]


@command
def show(
    common: Common,
    stage: StageArgument,
    key: Key = None,
    at: At = None,
    panes: Panes = False,
    limit: Limit = 20,
    as_json: Json = False,
) -> None:
    """Show the windows of a stage as they stand, by start; or, with --panes, how they came to be. Times are UTC.

    Example: windrow show conf/pipelines/flights.yaml departures_hourly --key origin=JFK --at 2013-01-15T12:30:00Z
    """
    pipeline = common.pipeline
    keys = keys_of(pipeline.stage(stage), key)
    inside = time_of("--at", at)
    from windrow.drivers.inspect.show.show import show as read

    shown = common.looked(lambda spark: read(pipeline, spark, stage, panes, keys, inside, limit))
    if as_json:
        print_json(shown.mappings())
    else:
        typer.echo(shown.text(width()))


def keys_of(stage: Stage, texts: Iterable[str] | None) -> dict[str, str]:
    """`NAME=VALUE` texts, or the value of the only key. Errors: SpecError."""
    only = next(iter(stage.keys)) if len(stage.keys) == 1 else None
    named = [text if only is None or text.startswith(f"{only}=") else f"{only}={text}" for text in texts or ()]
    return pairs_of("--key", named)
