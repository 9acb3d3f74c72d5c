"""`windrow register`: names for a pipeline's tables, by which BI tools find them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from windrow.cli.common import Common, command
from windrow.cli.options import Json, print_json, width
from windrow.spec.errors import SpecError
from windrow.view.register import registered_text

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Schema = Annotated[
    str | None,
    typer.Option(
        "--schema",
        metavar="NAME",
        help="The schema, or CATALOG.SCHEMA, in which the names are.",
        show_default="the pipeline's name",
    ),
]
Sql = Annotated[
    str | None,
    typer.Option("--sql", metavar="ENGINE", help="Print the statements for spark, trino or duckdb, and run nothing."),
]


@command
def register(common: Common, schema: Schema = None, sql: Sql = None, as_json: Json = False) -> None:
    """Give the tables of a pipeline, and views over them, names in the catalog of Spark, for BI tools.

    Example: windrow register conf/pipelines/flights.yaml --conf spark.sql.catalogImplementation=hive
    """
    pipeline = common.pipeline
    if sql is not None:
        from windrow.drivers.register.sql import names_sql

        typer.echo(names_sql(pipeline, sql, schema))
        return
    with common.session() as spark:
        from windrow.drivers.register.spark import register_names

        _check_stays(spark, schema or pipeline.pipeline)
        named = register_names(pipeline, spark, schema)
    if as_json:
        print_json([one.to_mapping() for one in named])
    else:
        typer.echo(registered_text(named, width()))


def _check_stays(spark: SparkSession, schema: str) -> None:
    """Refuse to write names into what ends with the command. Raises SpecError."""
    own, dot, _ = schema.partition(".")
    is_sparks = not dot or own == "spark_catalog"
    if is_sparks and spark.conf.get("spark.sql.catalogImplementation") == "in-memory":
        rule = "must name a catalog that outlives the command; Spark's own is in memory"
        hint = "--conf spark.sql.catalogImplementation=hive, --schema CATALOG.SCHEMA, windrow serve, or --sql"
        raise SpecError("--conf", rule, "spark.sql.catalogImplementation=in-memory", hint)
