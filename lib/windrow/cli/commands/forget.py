"""`windrow forget`: the rows of a person leave the lake."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from windrow.cli.common import Common, command
from windrow.cli.options import Json, print_json
from windrow.spec.errors import SpecError
from windrow.spec.expressions import Expression
from windrow.view.forget import forgotten_text

Where = Annotated[
    str | None,
    typer.Option("--where", metavar="CONDITION", help="Whose rows: an expression over columns of the sources."),
]
Unreadable = Annotated[
    bool, typer.Option("--unreadable", help="And all rows that could not be read, whoever they are of.")
]
Leave = Annotated[bool, typer.Option("--leave", help="Results that others are part of stay as they are.")]
Pages = Annotated[
    list[str] | None,
    typer.Option(
        "--pages",
        metavar="FOLDER",
        help="Pages of its runs that are there are written again; may be given again.",
        show_default="out",
    ),
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Count the rows, and change nothing.")]


@command
def forget(
    common: Common,
    where: Where = None,
    source: Annotated[str | None, typer.Option("--source", metavar="NAME", help="Of this source only.")] = None,
    unreadable: Unreadable = False,
    leave: Leave = False,
    dry_run: DryRun = False,
    pages: Pages = None,
    as_json: Json = False,
) -> None:
    """Forget a person: remove their rows from all tables, and make what they were part of of the other rows.

    It may run beside `windrow run`. Without --where it goes on with one that was killed. What has landed by then is
    forgotten; old versions of the tables have it until `windrow maintain --keep 0h`.

    Example: windrow forget conf/pipelines/flights.yaml --where "tailnum = 'N725MQ'"
    """
    pipeline = common.pipeline
    if source is not None:
        pipeline.source(source)
    if where is not None:
        _check(where)
    with common.session() as spark:
        from windrow.drivers.forget.forget import forget as forget_rows

        done = forget_rows(pipeline, spark, where, source, unreadable, leave, dry_run, pages or ["out"], common.typed)
    if as_json:
        print_json(asdict(done))
    else:
        typer.echo(forgotten_text(done, common.typed, dry_run))


def _check(where: str) -> None:
    """Raises SpecError where it is no expression that users may write."""
    try:
        Expression.parse(where)
    except SpecError as error:
        raise error.within("--where") from error
