"""`windrow status`: where a pipeline stands."""

from __future__ import annotations

from typing import Annotated

import typer

from windrow.cli.common import Common, command
from windrow.cli.options import Json, print_json, width
from windrow.spec.errors import FAILED
from windrow.spec.stages.freshness import FreshnessLevel
from windrow.view.freshness import freshness_lines
from windrow.view.status import status_mapping, status_sections
from windrow.view.text.sections import laid_out

Check = Annotated[
    bool, typer.Option("--check", help="Only say how old the results are; exit code 1 if that is an error.")
]


@command
def status(
    common: Common,
    check: Check = False,
    as_json: Json = False,
) -> None:
    """Say where each source and stage stands: what landed, the watermark, the lag, and where every row is.

    Example: windrow status conf/pipelines/flights.yaml
    """
    pipeline = common.pipeline
    if check:
        _check(common, as_json)
        return
    from windrow.drivers.inspect.status.status import status as read

    sources, stages = common.looked(lambda spark: read(pipeline, spark))
    if as_json:
        print_json(status_mapping(sources, stages))
    else:
        typer.echo(laid_out(status_sections(sources, stages), width()))


def _check(common: Common, as_json: bool) -> None:
    """How old the results are. Raises Exit where that is an error."""
    from windrow.drivers.inspect.freshness import freshness_of

    found = common.looked(lambda spark: freshness_of(common.pipeline, spark))
    if as_json:
        print_json([one.to_mapping() for one in found])
    else:
        typer.echo("\n".join(freshness_lines(found)))
    if any(one.level is FreshnessLevel.ERROR for one in found):
        raise typer.Exit(FAILED)
