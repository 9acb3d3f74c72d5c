"""The names of a pipeline in Unity Catalog, by the client of its REST interface that comes with Delta's jars.

A session has such a catalog where its settings name Unity Catalog's connector for Spark. The connector need not be
there: it is asked for nothing. What is sent are the places, columns and comments of the tables.

Source: "Tables" and "Schemas" of Unity Catalog's REST interface, 2.1.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from py4j.protocol import Py4JJavaError
from pyspark.sql import SparkSession
from pyspark.sql.types import DecimalType, StructField, StructType

from windrow.compile.names.dialects import Dialect, as_s3
from windrow.compile.names.relations import Relation
from windrow.drivers.register.places import is_same, plain, qualified, written
from windrow.drivers.register.registered import Registered
from windrow.spec.errors import SpecError
from windrow.store.delta.log.log_store import newest_snapshot

CONNECTOR = "io.unitycatalog.spark.UCSingleCatalog"
"""The class that Unity Catalog's own pages have one set for such a catalog."""
_NOT_FOUND, _CONFLICT = 404, 409
_INTEGER = {"integer": "INT"}
"""Spark's names of types that Unity Catalog has under another one."""


@dataclass(frozen=True)
class UnityCatalog:
    """A catalog of a session that is one of Unity Catalog's."""

    spark: SparkSession
    name: str

    @classmethod
    def of(cls, spark: SparkSession, spoken: Dialect) -> UnityCatalog | None:
        """The catalog of a schema, if it is one of Unity Catalog's."""
        *catalog, _ = spoken.schema
        if not catalog or spark.conf.get(f"spark.sql.catalog.{catalog[0]}", None) != CONNECTOR:
            return None
        return cls(spark, catalog[0])

    def register(self, relations: Iterable[Relation], spoken: Dialect) -> list[Registered]:
        """Give the tables their names, in a schema that is made if it is not there. Views it holds none.

        A table whose columns have changed is made anew, as the interface changes none: it is external, and stays.
        Errors: SpecError where the catalog does not answer or refuses, or a name belongs to another table.
        """
        found = {one.name: self._found(spoken, one) for one in relations if not one.is_view}
        for one in relations:
            if not one.is_view:
                self._check_free(spoken, one, found[one.name])
        self._make_schema(spoken)
        return [self._made(spoken, one, found.get(one.name)) for one in relations]

    # ---------------------------------------------------------------- what is there

    def _found(self, spoken: Dialect, relation: Relation) -> Any:
        return self._answer(lambda: self._tables.getTable(_full_name(spoken, relation), None, None), missing=_NOT_FOUND)

    def _check_free(self, spoken: Dialect, relation: Relation, found: Any) -> None:
        if found is None:
            return
        name, place = _full_name(spoken, relation), found.getStorageLocation() or ""
        ours = written(self.spark, spoken.path(relation))
        if not is_same(place, [*ours, *map(as_s3, ours)]):
            rule = "is the name of a table elsewhere"
            raise SpecError(name, rule, place, "another --schema, or drop it: the lake stays as it is")

    # ---------------------------------------------------------------- what is made

    def _make_schema(self, spoken: Dialect) -> None:
        catalog, schema = spoken.schema
        made = self._client.model.CreateSchema().name(schema).catalogName(catalog)
        made = made.comment("tables of windrow")
        self._answer(lambda: self._client.api.SchemasApi(self._connection).createSchema(made), missing=_CONFLICT)

    def _made(self, spoken: Dialect, relation: Relation, found: Any) -> Registered:
        name = _full_name(spoken, relation)
        if relation.is_view:
            return Registered.of(relation, name, "the catalog holds no views")
        columns = self._columns(spoken, relation)
        if found is not None and _described(found.getColumns()) == _described(columns):
            return Registered.of(relation, name)
        if found is not None:
            self._answer(lambda: self._tables.deleteTable(name), missing=_NOT_FOUND)
        catalog, schema = spoken.schema
        model = self._client.model
        table = model.CreateTable().name(relation.name).catalogName(catalog).schemaName(schema)
        table = table.tableType(model.TableType.EXTERNAL).dataSourceFormat(model.DataSourceFormat.DELTA)
        table = table.storageLocation(self._place(spoken, relation)).comment(relation.comment).columns(columns)
        self._answer(lambda: self._tables.createTable(table))
        return Registered.of(relation, name)

    def _place(self, spoken: Dialect, relation: Relation) -> str:
        """Where a table is, with its file system in front: others read it from elsewhere."""
        place = as_s3(qualified(self.spark, spoken.path(relation)))
        return f"file://{plain(place)}" if place.startswith("file:") else place

    def _columns(self, spoken: Dialect, relation: Relation) -> Any:
        metadata = newest_snapshot(self.spark, spoken.path(relation)).metadata()
        schema = StructType.fromJson(json.loads(metadata.schemaString()))
        made = self._java.java.util.ArrayList()
        for position, field in enumerate(schema.fields):
            made.add(self._column(position, field))
        return made

    def _column(self, position: int, field: StructField) -> Any:
        kind, model = field.dataType, self._client.model
        name = _INTEGER.get(kind.typeName(), kind.typeName().upper())
        column = model.ColumnInfo().name(field.name).typeText(kind.simpleString()).typeJson(field.json())
        column = column.typeName(model.ColumnTypeName.valueOf(name)).position(position).nullable(field.nullable)
        if isinstance(kind, DecimalType):
            column = column.typePrecision(kind.precision).typeScale(kind.scale)
        return column.comment(field.metadata.get("comment"))

    # ---------------------------------------------------------------- the client

    @property
    def _java(self) -> Any:
        return self.spark._jvm

    @property
    def _client(self) -> Any:
        return self._java.io.unitycatalog.client

    @cached_property
    def _tables(self) -> Any:
        return self._client.api.TablesApi(self._connection)

    @cached_property
    def _connection(self) -> Any:
        """To the server that the settings name. Errors: SpecError."""
        uri, token = self._setting("uri"), self._setting("token")
        if not uri:
            raise SpecError(f"spark.sql.catalog.{self.name}.uri", "must say where Unity Catalog answers", None)
        how = self._java.java.util.HashMap()
        how.put("type", "static")
        how.put("token", token or "")
        builder = self._client.ApiClientBuilder.create().uri(uri)
        return builder.tokenProvider(self._client.auth.TokenProvider.create(how)).build()

    def _setting(self, name: str) -> str | None:
        return self.spark.conf.get(f"spark.sql.catalog.{self.name}.{name}", None)

    def _answer(self, request: Callable[[], Any], missing: int | None = None) -> Any:
        """What the server answers; None where it answers with that code. Raises SpecError."""
        try:
            return request()
        except Py4JJavaError as error:
            found = error.java_exception
            code = found.getCode() if found.getClass().getSimpleName() == "ApiException" else 0
            if code and code == missing:
                return None
            said = found.getResponseBody() if code else found.toString()
            place = f"spark.sql.catalog.{self.name}"
            raise SpecError(place, "must be a catalog that answers and lets one make tables", said) from None


def _full_name(spoken: Dialect, relation: Relation) -> str:
    return ".".join((*spoken.schema, relation.name))


def _described(columns: Any) -> list[tuple[str, str, str | None]]:
    return [(one.getName(), one.getTypeText(), one.getComment()) for one in columns]
