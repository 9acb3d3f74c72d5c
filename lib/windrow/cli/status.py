"""`windrow status`: where a pipeline stands."""

from __future__ import annotations

import typer

from windrow.cli.options import Conf, File, Json, Master, Project, Set, opened, print_json, width
from windrow.cli.session import looked
from windrow.view.status import status_mapping, status_sections
from windrow.view.text.sections import laid_out


def status(
    file: File,
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
    from windrow.drivers.inspect.status import status as read

    sources, stages = looked(lambda spark: read(pipeline, spark), master, conf)
    if as_json:
        print_json(status_mapping(sources, stages))
    else:
        typer.echo(laid_out(status_sections(sources, stages), width()))
