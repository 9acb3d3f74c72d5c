"""`windrow lineage`: which columns the results are made of, and what the runs have written, as OpenLineage events."""

from __future__ import annotations

from typing import Annotated

import typer

from windrow.cli.common import Common, command
from windrow.spec.errors import SpecError

RunName = Annotated[
    str | None,
    typer.Option("--run", metavar="NAME", help="Events of a run: its name, `last`, `stream` or `all`.",
                 show_default="the jobs of the file, without runs"),
]  # fmt: skip
Output = Annotated[
    str | None,
    typer.Option(
        "--output", metavar="FILE", help="A file of an event a line: a path, or a URI.", show_default="stdout"
    ),
]
Url = Annotated[
    str | None,
    typer.Option("--url", metavar="URL", help="A service that takes events; OPENLINEAGE_API_KEY may hold its key."),
]
Namespace = Annotated[str, typer.Option("--namespace", metavar="NAME", help="The namespace of the jobs.")]


@command
def lineage(
    common: Common,
    run: RunName = None,
    output: Output = None,
    url: Url = None,
    namespace: Namespace = "windrow",
) -> None:
    """Say which columns each result is made of, as events of OpenLineage, to stdout, a file or a service.

    Without --run they are the jobs as the pipeline file describes them; with it what a run has written.

    Example: windrow lineage conf/pipelines/flights.yaml --run last --url http://localhost:5000
    """
    from windrow.drivers.inspect.lineage.lineage import lineage as read
    from windrow.store.reading.pages import write_text
    from windrow.view.lineage.events import in_lines

    if output is not None and url is not None:
        raise SpecError("--url", "does not go with --output", url, "one of them")
    pipeline = common.pipeline
    events = common.looked(lambda spark: read(pipeline, spark, run, namespace))
    if url is not None:
        from windrow.drivers.inspect.lineage.sending import send

        typer.echo(f"{send(events, url):,} events sent to {url}")
    elif output is not None:
        write_text(output, in_lines(events))
        typer.echo(output)
    else:
        typer.echo(in_lines(events), nl=False)
