"""`windrow status`: where a pipeline stands."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated

import typer

from windrow.cli.options import Conf, File, Json, Master, Project, Set, opened, print_json, width
from windrow.cli.session import looked
from windrow.spec.errors import FAILED
from windrow.spec.pipelines.pipeline import Pipeline
from windrow.spec.stages.freshness import FreshnessLevel
from windrow.view.freshness import freshness_lines
from windrow.view.status import status_mapping, status_sections
from windrow.view.text.sections import laid_out

Check = Annotated[
    bool, typer.Option("--check", help="Only say how old the results are; exit code 1 if that is an error.")
]


def status(
    file: File,
    check: Check = False,
    settings: Set = None,
    project: Project = None,
    master: Master = None,
    conf: Conf = None,
    as_json: Json = False,
) -> None:
    """Say where each source and stage stands: what landed, the watermark, the lag, and where every row is.

    Example: windrow status conf/pipelines/flights.yaml
    """
    pipeline = opened(file, settings, project)
    if check:
        _check(pipeline, master, conf, as_json)
        return
    from windrow.drivers.inspect.status import status as read

    sources, stages = looked(lambda spark: read(pipeline, spark), master, conf)
    if as_json:
        print_json(status_mapping(sources, stages))
    else:
        typer.echo(laid_out(status_sections(sources, stages), width()))


def _check(pipeline: Pipeline, master: str | None, conf: Iterable[str] | None, as_json: bool) -> None:
    """How old the results are. Raises Exit where that is an error."""
    from windrow.drivers.inspect.freshness import freshness_of

    found = looked(lambda spark: freshness_of(pipeline, spark), master, conf)
    if as_json:
        print_json([one.to_mapping() for one in found])
    else:
        typer.echo("\n".join(freshness_lines(found)))
    if any(one.level is FreshnessLevel.ERROR for one in found):
        raise typer.Exit(FAILED)
