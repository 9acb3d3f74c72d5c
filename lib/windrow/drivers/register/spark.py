"""The names of a pipeline in the catalog of a Spark session: Hive's metastore, or any that the session has."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession

from windrow.compile.names.dialects import Dialect, dialect
from windrow.compile.names.relations import Relation, chosen, relations
from windrow.drivers.register.places import is_same, written
from windrow.drivers.register.registered import Registered
from windrow.drivers.register.unity import UnityCatalog
from windrow.drivers.spark.connect import check_has_jvm
from windrow.spec.errors import SpecError
from windrow.spec.pipelines.pipeline import Pipeline
from windrow.spec.pipelines.spark_settings import REQUIRED
from windrow.store.delta.location import Lake
from windrow.store.delta.log.log_store import newest_snapshot

NO_VIEWS = frozenset({"MISSING_CATALOG_ABILITY.VIEWS", "UNSUPPORTED_FEATURE.CATALOG_OPERATION"})
"""The conditions of errors of a catalog that holds no views."""
_DETAILS = "# Detailed Table Information"


def register_names(pipeline: Pipeline, spark: SparkSession, schema: str | None = None) -> list[Registered]:
    """Give the tables of a pipeline, and the views over them, names in the catalog of a session.

    `schema` is one name, or a catalog and a schema; by default the name of the pipeline. It is made if it is not there.
    Tables are external, so dropping one leaves the lake as it is; a view that is there is made anew, by what the
    pipeline says now. What has not run yet gets no name; call it again afterwards. A catalog without views gets the
    tables only; one of Unity Catalog's is asked by REST. Who may read what is left to the catalog.

    Errors: SpecError where nothing has run in the lake, a name belongs to another table or view, or the session is one
    of Spark Connect.
    """
    check_has_jvm(spark)
    lake, made = Lake.of(pipeline.lake).root, relations(pipeline)
    spoken = dialect("spark", schema or pipeline.pipeline, lake)
    folders = [one.folder for one in made if one.folder is not None and _is_there(spark, spoken.path(one))]
    named = chosen(made, folders)
    if not named:
        raise SpecError("lake", "has no tables of the pipeline yet", pipeline.lake, "windrow run, or --set lake=...")
    unity = UnityCatalog.of(spark, spoken)
    if unity is not None:
        return unity.register(named, spoken)
    tables = [spoken.written(spoken.at(one.name)) for one in named if not one.is_view]
    for one in named:
        _check_free(spark, spoken, one, tables)
    with _taking_text_as_it_is(spark):
        spark.sql(spoken.written(spoken.create_schema()))
        return [_made(spark, spoken, one) for one in named]


@contextmanager
def _taking_text_as_it_is(spark: SparkSession) -> Iterator[None]:
    """No value of the environment takes the place of `${...}` in a statement, whatever the session does otherwise."""
    before = {name: spark.conf.get(name) for name in _OF_TEXT}
    try:
        for name in _OF_TEXT:
            spark.conf.set(name, REQUIRED[name].value)
        yield
    finally:
        for name, value in before.items():
            spark.conf.set(name, str(value))


_OF_TEXT = ("spark.sql.variable.substitute", "spark.sql.parser.escapedStringLiterals")
"""Settings by which a session may take the text of a statement for another one."""


def _is_there(spark: SparkSession, path: str) -> bool:
    return int(newest_snapshot(spark, path).version()) >= 0


def _made(spark: SparkSession, spoken: Dialect, relation: Relation) -> Registered:
    name = ".".join((*spoken.schema, relation.name))
    for statement in spoken.of(relation):
        try:
            spark.sql(spoken.written(statement))
        except AnalysisException as error:
            if relation.is_view and error.getCondition() in NO_VIEWS:
                return Registered.of(relation, name, "the catalog holds no views")
            raise
    return Registered.of(relation, name)


def _check_free(spark: SparkSession, spoken: Dialect, relation: Relation, tables: Sequence[str]) -> None:
    """Refuse to take a name from something else. A view is ours if it reads one of our tables. Raises SpecError."""
    name = spoken.at(relation.name).sql(dialect=spoken.NAME)
    if not spark.catalog.tableExists(name):
        return
    found = _details(spark, name)
    is_view = found.get("Type", "").upper() == "VIEW"
    if is_view is not relation.is_view:
        kind = "view" if is_view else "table"
        raise SpecError(name, f"is the name of another {kind}", found.get("Location"), "another --schema, or drop it")
    query = found.get("View Text")
    if query is not None and not any(table in query for table in tables):
        raise SpecError(name, "is the name of another view", query, "another --schema, or drop it")
    if not is_view and not is_same(found.get("Location", ""), written(spark, spoken.path(relation))):
        rule = "is the name of a table elsewhere"
        raise SpecError(name, rule, found.get("Location"), "another --schema, or drop it: the lake stays as it is")


def _details(spark: SparkSession, name: str) -> dict[str, str]:
    """What the catalog knows of a table or view, beside its columns."""
    rows = [(str(row[0]), str(row[1])) for row in spark.sql(f"DESCRIBE TABLE EXTENDED {name}").collect()]
    start = next((index for index, (label, _) in enumerate(rows) if label == _DETAILS), len(rows))
    return dict(rows[start:])
