"""The names of a pipeline as statements of a dialect: for Spark's catalog, for Trino, for DuckDB.

The trees are the same; sqlglot writes them. What differs is how a table is found by its path, and where comments stand.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

from sqlglot import exp

from windrow.compile.names.relations import Relation
from windrow.compile.names.trees import columns, identifier, text
from windrow.spec.errors import SpecError


@dataclass(frozen=True)
class Dialect(ABC):
    """Of one engine. `schema` has one part, or two with the catalog in front; `lake` is the folder of the tables."""

    NAME: ClassVar[str]
    schema: tuple[str, ...]
    lake: str

    def statements(self, relations: Iterable[Relation]) -> list[str]:
        """What makes the names, statement by statement, without semicolons."""
        made = [self.create_schema(), *(tree for one in relations for tree in self.of(one))]
        return [self.written(tree) for tree in made]

    def written(self, tree: exp.Expression) -> str:
        """A statement as text."""
        return tree.sql(dialect=self.NAME, pretty=True, identify=True)

    def create_schema(self) -> exp.Expression:
        """Make the schema, unless it is there."""
        *catalog, schema = self.schema
        name = exp.Table(db=identifier(schema), catalog=identifier(catalog[0]) if catalog else None)
        return exp.Create(this=name, kind="SCHEMA", exists=True)

    def of(self, relation: Relation) -> Iterator[exp.Expression]:
        """The statements that make one name."""
        if relation.query is None:
            yield from self.table(relation)
        else:
            yield from self.view(relation, self.placed(relation.query))

    @abstractmethod
    def table(self, relation: Relation) -> Iterator[exp.Expression]:
        """The statements that give a table of the lake its name."""

    @abstractmethod
    def view(self, relation: Relation, query: exp.Expression) -> Iterator[exp.Expression]:
        """The statements that make a view, with its comments."""

    def path(self, relation: Relation) -> str:
        """Where a table is."""
        return f"{self.lake.rstrip('/')}/{relation.folder}"

    def at(self, name: str) -> exp.Table:
        """A name in the schema."""
        *catalog, schema = self.schema
        return exp.Table(
            this=identifier(name), db=identifier(schema), catalog=identifier(catalog[0]) if catalog else None
        )

    def placed(self, query: exp.Expression) -> exp.Expression:
        """A query whose tables are in the schema."""
        return query.copy().transform(lambda node: self._placed(node))

    def _placed(self, node: exp.Expression) -> exp.Expression:
        if not isinstance(node, exp.Table):
            return node
        found = self.at(node.name)
        found.set("alias", node.args.get("alias"))
        return found

    def commented(self, relation: Relation) -> Iterator[exp.Expression]:
        """Comments as statements of their own."""
        name = self.at(relation.name)
        yield exp.Comment(this=name, kind="VIEW", expression=text(relation.comment))
        for column, comment in relation.columns.items():
            of = exp.Column(this=identifier(column), **{part: name.args.get(at) for part, at in _PARTS.items()})
            yield exp.Comment(this=of, kind="COLUMN", expression=text(comment))


_PARTS: Mapping[str, str] = {"table": "this", "db": "db", "catalog": "catalog"}


def _created(name: exp.Expression, query: exp.Expression, *properties: exp.Expression) -> exp.Create:
    """A view in place of what has its name."""
    all_of = exp.Properties(expressions=list(properties)) if properties else None
    return exp.Create(this=name, kind="VIEW", replace=True, expression=query, properties=all_of)


class Spark(Dialect):
    """Spark: external tables, and views with comments."""

    NAME = "spark"

    def table(self, relation: Relation) -> Iterator[exp.Expression]:
        where = exp.LocationProperty(this=text(self.path(relation)))
        all_of = exp.Properties(expressions=[exp.FileFormatProperty(this=exp.var("DELTA")), where])
        yield exp.Create(this=self.at(relation.name), kind="TABLE", exists=True, properties=all_of)

    def view(self, relation: Relation, query: exp.Expression) -> Iterator[exp.Expression]:
        named = [_with_comment(name, comment) for name, comment in relation.columns.items()]
        schema = exp.Schema(this=self.at(relation.name), expressions=named)
        yield _created(schema, query, exp.SchemaCommentProperty(this=text(relation.comment)))


def _with_comment(name: str, comment: str) -> exp.ColumnDef:
    constraint = exp.ColumnConstraint(kind=exp.CommentColumnConstraint(this=text(comment)))
    return exp.ColumnDef(this=identifier(name), constraints=[constraint])


class Trino(Dialect):
    """Trino's connector for Delta: tables are registered by a procedure, and show the comments of the lake."""

    NAME = "trino"

    def table(self, relation: Relation) -> Iterator[exp.Expression]:
        *catalog, schema = self.schema
        given = {"schema_name": schema, "table_name": relation.name, "table_location": self.path(relation)}
        named = [exp.Kwarg(this=exp.var(name), expression=text(value)) for name, value in given.items()]
        procedure = exp.Anonymous(this="register_table", expressions=named)
        called = exp.Dot.build([*map(identifier, catalog), identifier("system"), procedure])
        yield exp.Command(this="CALL", expression=called.sql(dialect=self.NAME))

    def view(self, relation: Relation, query: exp.Expression) -> Iterator[exp.Expression]:
        yield _created(self.at(relation.name), query)
        yield from self.commented(relation)


class DuckDB(Dialect):
    """DuckDB with its extension `delta`: views over the folders."""

    NAME = "duckdb"

    def table(self, relation: Relation) -> Iterator[exp.Expression]:
        scan = exp.Anonymous(this="delta_scan", expressions=[text(as_s3(self.path(relation)))])
        query = exp.select(*columns(relation.columns)).from_(exp.Table(this=scan))
        yield from self.view(relation, query)

    def view(self, relation: Relation, query: exp.Expression) -> Iterator[exp.Expression]:
        yield _created(self.at(relation.name), query)
        yield from self.commented(relation)


class Opened(DuckDB):
    """DuckDB in this process, where tables are there under their names already: temporary views without a schema."""

    def statements(self, relations: Iterable[Relation]) -> list[str]:
        return [self.written(tree) for one in relations for tree in self.of(one)]

    def table(self, relation: Relation) -> Iterator[exp.Expression]:
        return iter(())

    def view(self, relation: Relation, query: exp.Expression) -> Iterator[exp.Expression]:
        yield _created(self.at(relation.name), query, exp.TemporaryProperty())

    def at(self, name: str) -> exp.Table:
        return exp.Table(this=identifier(name))


def as_s3(path: str) -> str:
    """Hadoop's scheme of S3 under the name that it has everywhere else."""
    scheme, colon, rest = path.partition("://")
    return f"s3{colon}{rest}" if scheme in ("s3a", "s3n") else path


DIALECTS: Mapping[str, type[Dialect]] = {one.NAME: one for one in (Spark, Trino, DuckDB)}


def dialect(name: str, schema: str, lake: str) -> Dialect:
    """The dialect of that name. `schema` is a name, or two with a dot. Errors: SpecError."""
    parts = tuple(schema.split("."))
    if not all(parts) or len(parts) > 2:
        raise SpecError("--schema", "must be a schema, or a catalog and a schema", schema, "for instance main.flights")
    if name not in DIALECTS:
        raise SpecError("--sql", "must be one of the dialects", name, ", ".join(DIALECTS))
    return DIALECTS[name](parts, lake)
