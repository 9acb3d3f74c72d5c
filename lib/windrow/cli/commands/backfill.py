"""`windrow backfill`: expired windows once more, from raw."""

from __future__ import annotations

from typing import Annotated

import typer

from windrow.cli.common import Common, command
from windrow.cli.options import From, Json, StageName, To, is_before, print_json, time_of
from windrow.spec.errors import SpecError
from windrow.view.backfill import backfilled_mapping, backfilled_text

Early = Annotated[
    bool, typer.Option("--early", help="Show windows that have not expired too, as panes that are not last.")
]
Whole = Annotated[bool, typer.Option("--whole", help="Assert that the history is whole: publish all windows as last.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Say what differs, and commit nothing.")]


@command
def backfill(
    common: Common,
    from_: From = None,
    to: To = None,
    stage: StageName = None,
    dry_run: DryRun = False,
    early: Early = False,
    whole: Whole = False,
    as_json: Json = False,
) -> None:
    """Recompute the expired windows that start in a time span, and commit what differs from the tables.

    Windows that have not expired by the watermark of what has landed wait: they are named, and not published.

    Example: windrow backfill conf/pipelines/flights.yaml --from 2013-01-01 --to 2013-02-01
    """
    pipeline = common.pipeline
    start, end = time_of("--from", from_), time_of("--to", to)
    if start is None or end is None:
        raise SpecError("--to" if end is None else "--from", "is missing", None, "a backfill is over [--from, --to)")
    is_before(start, end)
    if stage is not None:
        pipeline.stage(stage)
    with common.gate_told(), common.session(judges=True) as spark:
        from windrow.drivers.recompute.backfill import backfill as recompute

        results = recompute(pipeline, spark, start, end, stage, dry_run, early, whole)
    if as_json:
        print_json([backfilled_mapping(result) for result in results])
        return
    for result in results:
        typer.echo(backfilled_text(result, dry_run))
