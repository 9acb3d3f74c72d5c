"""Whose rows are forgotten: a condition over the columns of sources."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession

from windrow.compile.elements.envelope import FORGOTTEN, RAW, REASON
from windrow.compile.sql.columns import Column, call, coalesce, col, lit, null, quoted, when
from windrow.drivers.pipeline.rows import row_schema
from windrow.engine.frames import local, where, with_column
from windrow.spec.errors import NotInThisVersion, SpecError
from windrow.spec.expressions import Expression
from windrow.spec.sources.source import Source
from windrow.store.delta.copy_on_write import GOES

IN_TEXT = frozenset({"boolean", "tinyint", "smallint", "int", "bigint", "long", "float", "double", "string", "date"})
"""Types whose values are looked for in texts: of rows that could not be read, and of dead letters."""


@dataclass(frozen=True)
class Person:
    """The rows for which a condition is true; where `unreadable` also all that could not be read, of whomever."""

    where: Expression
    unreadable: bool = False

    @classmethod
    def of(cls, text: str, unreadable: bool = False) -> Person:
        """Raises SpecError where the text is no condition that users may write."""
        try:
            return cls(Expression.parse(text), unreadable)
        except SpecError as error:
            raise error.within("--where") from error

    def sources(self, sources: Sequence[Source], spark: SparkSession) -> list[Source]:
        """Those of the sources that have all columns of the condition.

        Raises SpecError where none has, and where one has nothing in the lake that could be forgotten.
        """
        found = [one for one in sources if self._is_over(one)]
        if not found:
            names = ", ".join(one.name for one in sources)
            raise SpecError(
                "--where", "reads columns that no source has together", self.where.text, f"the sources are {names}"
            )
        for source in found:
            self._check(source, spark)
        return found

    def _is_over(self, source: Source) -> bool:
        names = {name.lower() for name in source.columns}
        return bool(self.where.columns) and all(name.lower() in names for name in self.where.columns)

    def _check(self, source: Source, spark: SparkSession) -> None:
        place = f"sources.{source.name}"
        if source.connector.is_in_place:
            rule = "is read in place, so that the lake has none of its rows to forget"
            hint = "take them out of what it reads, and run with --from-start on a new lake path"
            raise NotInThisVersion(place, rule, None, hint)
        partition = source.partition
        if partition is not None and partition.lower() in {name.lower() for name in self.where.columns}:
            rule = "is the source partition, whose values stand in the control row of every tick"
            raise NotInThisVersion(f"{place}.partition", rule, partition)
        try:
            rows, holds = self._holding(local(spark, [], row_schema(source.columns)), source)
            kind = with_column(rows, GOES, holds).schema[GOES].dataType
        except AnalysisException as error:
            raise SpecError("--where", f"does not fit the columns of {source.name}", self.where.text) from error
        if kind.simpleString() != "boolean":
            raise SpecError("--where", "must be a condition", self.where.text)

    def tells(self, rows: DataFrame, source: Source) -> DataFrame:
        """Raw rows with `GOES`: whether they are of the person and not forgotten yet.

        Of a row that could not be read the columns are looked for in its text.
        """
        names = rows.columns
        rows, holds = self._holding(rows, source)
        holds = coalesce(holds, False)
        if self.unreadable:
            holds = holds | col(RAW).is_not_null()
        goes = holds & ~col(REASON).same(lit(FORGOTTEN))
        return with_column(rows, GOES, goes).select(*map(quoted, names), GOES)

    def letters(self, letters: DataFrame, names: Mapping[str, Sequence[str]], kinds: Mapping[str, str]) -> DataFrame:
        """Those of dead letters whose elements, as JSON, are of the person.

        By column of the condition, `names` are the fields that may have its value, and `kinds` has its type, one of
        `IN_TEXT`.
        """
        given = {name: f"_person_{index}" for index, name in enumerate(self.where.columns)}
        rows = letters
        for name, own in given.items():
            rows = with_column(rows, own, _in_text(col("element"), names[name], kinds[name]))
        holds = coalesce(Column(self.where.rename(given).value_sql), False)
        return where(rows, holds).drop(*given.values())

    def _holding(self, rows: DataFrame, source: Source) -> tuple[DataFrame, Column]:
        """Raw rows with the values that the condition is about, and the condition over these."""
        kinds = {name.lower(): (name, kind) for name, kind in source.columns.items()}
        there = {name.lower() for name in rows.columns}
        names = {name: f"_person_{index}" for index, name in enumerate(self.where.columns)}
        for name, given in names.items():
            own, kind = kinds[name.lower()]
            value = col(own) if own.lower() in there else null(kind)
            in_text = _in_text(col(RAW), source.fields.names_of(own), kind)
            rows = with_column(rows, given, coalesce(value, when(col(RAW).is_not_null(), in_text)))
        return rows, Column(self.where.rename(names).value_sql)


def _in_text(text: Column, names: Sequence[str], kind: str) -> Column:
    """What a text says of a column, under the first of its names that it has, if it is JSON; null for other types."""
    if kind not in IN_TEXT:
        return null(kind)
    found = [call("get_json_object", text, f"$['{name}']") for name in names if "'" not in name]
    return coalesce(*found).try_cast(kind) if found else null(kind)
