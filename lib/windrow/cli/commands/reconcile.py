"""`windrow reconcile`: is what the stream shows what a batch gives?"""

from __future__ import annotations

from typing import Annotated

import typer

from windrow.cli.common import Common, command
from windrow.cli.options import From, Json, StageName, To, is_before, print_json, time_of, width
from windrow.spec.errors import FAILED
from windrow.view.reconcile import reconciled_mapping, reconciled_text

AllowLate = Annotated[
    bool, typer.Option("--allow-late", help="Rows that came too late, in no window on either side, are no failure.")
]


@command
def reconcile(
    common: Common,
    from_: From = None,
    to: To = None,
    stage: StageName = None,
    allow_late: AllowLate = False,
    as_json: Json = False,
) -> None:
    """Compare the expired windows that the tables show with what a batch over the same rows gives.

    Exit code 0 if they are equal; 1 if they differ, or if they are equal but for rows that came too late and were not
    restated (0 with --allow-late).

    Example: windrow reconcile conf/pipelines/flights.yaml
    """
    pipeline = common.pipeline
    start, end = time_of("--from", from_), time_of("--to", to)
    is_before(start, end)
    if stage is not None:
        pipeline.stage(stage)
    with common.session() as spark:
        from windrow.drivers.recompute.reconcile import reconcile as compare

        results = compare(pipeline, spark, start, end, stage)
    if as_json:
        print_json([reconciled_mapping(result) for result in results])
    else:
        for result in results:
            typer.echo(reconciled_text(result, width()))
    if not all(result.equal and (allow_late or not result.late_rows) for result in results):
        raise typer.Exit(FAILED)
