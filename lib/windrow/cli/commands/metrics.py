"""`windrow metrics`: where a pipeline stands, for Prometheus and Grafana."""

from __future__ import annotations

from typing import Annotated

import typer

from windrow.cli.common import Common, command
from windrow.spec.errors import SpecError

Output = Annotated[
    str | None,
    typer.Option(
        "--output", metavar="FILE", help="A file in place of stdout: a path, or a URI.", show_default="stdout"
    ),
]
Port = Annotated[int | None, typer.Option("--port", metavar="N", min=1, max=65535, help="Answer on this port.")]
Host = Annotated[str, typer.Option("--host", metavar="ADDRESS", help="Which address of this machine answers.")]
Dashboard = Annotated[bool, typer.Option("--dashboard", help="Print the dashboard for Grafana in place of metrics.")]


@command
def metrics(
    common: Common,
    output: Output = None,
    port: Port = None,
    host: Host = "127.0.0.1",
    dashboard: Dashboard = False,
) -> None:
    """Print rows, lag, watermarks, panes and dead letters as OpenMetrics text, or answer Prometheus on a port.

    They are read from the tables of the lake, so they tell of a stream that is down, too, and never disturb it.

    Example: windrow metrics conf/pipelines/flights.yaml --port 9464
    """
    from windrow.drivers.inspect.metrics import metrics_text, serve
    from windrow.store.reading.pages import write_text
    from windrow.view.templates import text_of

    if port is not None and (output is not None or dashboard):
        raise SpecError("--port", "does not go with --output or --dashboard", port)
    pipeline = common.pipeline
    if port is not None:
        typer.echo(f"metrics of {pipeline.pipeline} on http://{host}:{port}/metrics", err=True)
        common.looked(lambda spark: serve(pipeline, port, host, spark))
        return
    text = text_of("grafana.json") if dashboard else common.looked(lambda spark: metrics_text(pipeline, spark))
    if output is None:
        typer.echo(text, nl=False)
    else:
        write_text(output, text)
        typer.echo(output)
