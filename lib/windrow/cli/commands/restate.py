"""`windrow restate`: late rows are counted after all."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import typer

from windrow.cli.commands.backfill import DryRun
from windrow.cli.common import Common, command
from windrow.cli.options import Json, StageName, print_json
from windrow.spec.times import format_time
from windrow.view.backfill import backfilled_text, late_text, waiting_text

if TYPE_CHECKING:
    from windrow.drivers.recompute.restate import RestateResult


@command
def restate(
    common: Common,
    stage: StageName = None,
    dry_run: DryRun = False,
    as_json: Json = False,
) -> None:
    """Recompute the expired windows that have late rows among the dead letters, and commit what differs.

    Windows that are open in the stream wait until they have expired, and are named.

    Example: windrow restate conf/pipelines/flights.yaml --dry-run
    """
    pipeline = common.pipeline
    if stage is not None:
        pipeline.stage(stage)
    with common.gate_told(), common.session(judges=True) as spark:
        from windrow.drivers.recompute.restate import restate as restate_late_rows

        results = restate_late_rows(pipeline, spark, stage, dry_run)
    if as_json:
        print_json([_mapping(result) for result in results])
        return
    for result in results:
        typer.echo(restated_text(result, dry_run))


def restated_text(result: RestateResult, dry_run: bool = False) -> str:
    """What a restatement of a stage did, or would do."""
    lines = [late_text(result.stage, result.rows, result.windows)]
    if result.backfilled is not None:
        lines.append(backfilled_text(result.backfilled, dry_run))
    if result.waiting is not None:
        lines.append(waiting_text(result.stage, result.waiting))
    return "\n".join(lines)


def _mapping(result: RestateResult) -> dict[str, Any]:
    values = asdict(result)
    if result.waiting is not None:
        first = [format_time(bound) for bound in result.waiting.first]
        values["waiting"].update(first=first, until=format_time(result.waiting.until))
    return values
