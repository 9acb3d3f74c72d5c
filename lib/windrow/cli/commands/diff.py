"""`windrow diff`: on which windows two lakes, or two generations, differ, and by how much."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

import typer

from windrow.cli.common import Common, command
from windrow.cli.options import From, Json, StageName, To, is_before, print_json, time_of, width
from windrow.spec.errors import FAILED
from windrow.spec.pipelines.loading import starting_from
from windrow.view.diff import diff_mapping, diff_text

Against = Annotated[str | None, typer.Option("--against", metavar="LAKE", help="Another lake of this pipeline.")]
Generation = Annotated[
    int | None, typer.Option("--generation", metavar="N", help="A generation in this lake, shown or not.")
]


@command
def diff(
    common: Common,
    against: Against = None,
    generation: Generation = None,
    from_: From = None,
    to: To = None,
    stage: StageName = None,
    as_json: Json = False,
) -> None:
    """Compare what the lake shows with another lake, or with another generation of its stages, window by window.

    Exit code 0 if they are equal, 1 if they differ.

    Example: windrow diff conf/pipelines/flights.yaml --against lake/flights-backfill
    """
    pipeline = common.pipeline
    start, end = time_of("--from", from_), time_of("--to", to)
    is_before(start, end)
    from windrow.drivers.inspect.diff.diff import diff as compare

    if against is not None and common.project is not None:
        against = starting_from(replace(pipeline, lake=against), common.project).lake
    found = common.looked(lambda spark: compare(pipeline, spark, against, generation, stage, start, end))
    if as_json:
        print_json([diff_mapping(one) for one in found])
    else:
        for one in found:
            typer.echo(diff_text(one, width()))
    if not all(one.is_equal for one in found):
        raise typer.Exit(FAILED)
