"""`windrow maintain`: small files are put together, old ones removed."""

from __future__ import annotations

from typing import Annotated

import typer

from windrow.cli.common import Common, command
from windrow.cli.options import Json, print_json, width
from windrow.spec.errors import SpecError
from windrow.spec.times import parse_duration
from windrow.view.maintain import maintained_mapping, maintained_text

DryRun = Annotated[bool, typer.Option("--dry-run", help="Say what would be done, and do nothing.")]
Keep = Annotated[
    str, typer.Option("--keep", metavar="DURATION", help="How long old versions stay readable: 1h to 7d, or 0h.")
]

Log = Annotated[
    str | None, typer.Option("--log", metavar="DURATION", help="How long tables keep their commits: --keep to 30d.")
]


@command
def maintain(
    common: Common,
    dry_run: DryRun = False,
    keep: Keep = "7d",
    log: Log = None,
    as_json: Json = False,
) -> None:
    """Compact the journals, put small files together, and remove files that no version younger than --keep has.

    It may run beside `windrow run`. What the tables say stays as it is. With --keep 0h all old versions are gone, and
    what was forgotten with them; a command that reads a table meanwhile has to be run again.

    Example: windrow maintain conf/pipelines/flights.yaml --keep 2d
    """
    pipeline = common.pipeline
    kept, logged = _duration("--keep", keep), None if log is None else _duration("--log", log)
    with common.session() as spark:
        from windrow.drivers.maintain.maintain import maintain as keep_up

        results = keep_up(pipeline, spark, kept, dry_run, log=logged)
    if as_json:
        print_json(maintained_mapping(results))
    else:
        typer.echo(maintained_text(results, width()))


def _duration(option: str, text: str) -> int:
    try:
        return parse_duration(text)
    except SpecError as error:
        raise error.within(option) from error
