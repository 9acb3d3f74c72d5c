"""`windrow serve`: a pipeline's tables by JDBC."""

from __future__ import annotations

from dataclasses import replace
from tempfile import TemporaryDirectory
from typing import Annotated

import typer

from windrow.cli.commands.register import Schema
from windrow.cli.common import Common, command
from windrow.cli.options import Json, pairs_of, print_json, width
from windrow.view.register import registered_text

Host = Annotated[str, typer.Option("--host", metavar="ADDRESS", help="The address to listen on.")]
Port = Annotated[int, typer.Option("--port", min=1, max=65535, help="The port to listen on.")]


@command
def serve(
    common: Common,
    host: Host = "127.0.0.1",
    port: Port = 10000,
    schema: Schema = None,
    as_json: Json = False,
) -> None:
    """Answer SQL over a pipeline's tables by JDBC, as a Thrift server of Spark, until SIGTERM or Ctrl-C.

    The tables have the names that `windrow register` gives them. Whoever reaches the port may read and write as you do.

    Example: windrow serve conf/pipelines/flights.yaml --port 10000
    """
    pipeline = common.pipeline
    with TemporaryDirectory(prefix="windrow-warehouse-") as warehouse:
        from windrow.drivers.register.settings import CLASS_PATH, served_settings

        given = pairs_of("--conf", common.conf)
        given = {**served_settings(host, port, warehouse, given.pop(CLASS_PATH, None)), **given}
        conf = [f"{name}={value}" for name, value in given.items()]
        with replace(common, conf=conf).session() as spark:
            from windrow.drivers.register.spark import register_names
            from windrow.drivers.register.thrift import served
            from windrow.drivers.stream.stream import stopped_by_signals

            with stopped_by_signals() as stop, served(spark):
                named = register_names(pipeline, spark, schema)
                if as_json:
                    print_json([one.to_mapping() for one in named])
                else:
                    typer.echo(registered_text(named, width()))
                    typer.echo(f"jdbc:hive2://{host}:{port}/{schema or pipeline.pipeline}")
                stop.wait()
