"""JSON texts as rows of a schema: what cannot be read comes as a row with its text."""

from __future__ import annotations

from collections.abc import Iterable

from pyspark.sql import DataFrame

from windrow.compile.elements.envelope import RAW
from windrow.compile.sql.columns import Column, Value, array, call, case, coalesce, col, named, text, when
from windrow.spec.fields.schemas import Schema
from windrow.spec.sources.fields import Fields
from windrow.spec.sources.source import RESCUED

_PARSED = "_parsed"


def json_rows(frame: DataFrame, fields: Fields, column: str, keep: Iterable[str]) -> DataFrame:
    """The columns of the schema from one JSON object in each text of `column`, `_rescued`, `_raw`, and those to keep.

    `_rescued` has the fields that are of no column, as JSON, and is null where there are none: also those of another
    name of a column whose value the row says under a name before that. `_raw` is null where the text is an object of
    the schema, else the text; for a text that is null it is `null`.
    """
    kept = [named(name, col(name)) for name in keep]
    value = col(column)
    parsed = frame.selectExpr(*kept, value.text, named(_PARSED, _object(fields.every, value)))
    columns = [
        named(name, coalesce(*[col(_PARSED, one) for one in fields.names_of(name)])) for name in fields.schema
    ]  # fmt: skip
    whole = coalesce(call("make_valid_utf8", value), "null")
    broken = case((col(_PARSED).is_null(), whole), otherwise=call("make_valid_utf8", col(_PARSED, RAW)))
    return parsed.selectExpr(*columns, named(RESCUED, _unknown(_names(fields), value)), named(RAW, broken), *kept)


def _object(schema: Schema, value: Column) -> Column:
    options = call("map", "mode", "PERMISSIVE", "columnNameOfCorruptRecord", RAW)
    return Column(f"from_json({value.text}, {text(f'{schema.ddl}, `{RAW}` string')}, {options.text})")


def _names(fields: Fields) -> Column:
    """The names of the fields that are columns of a parsed row: of several for one column the first with a value."""
    names: list[Value] = [*fields.schema]
    for column in fields.schema:
        own, *others = fields.names_of(column)
        for index, name in enumerate(others):
            before = coalesce(*[col(_PARSED, one) for one in (own, *others[:index])])
            names.append(when(before.is_null(), name, column))  # no null: `array_contains` would be null for others
    return array(*names)


def _unknown(names: Column, value: Column) -> Column:
    """The fields that have none of these names. Most rows have none, and are looked through for names only."""
    others = call("array_except", call("json_object_keys", value), names)
    fields = Column(f"from_json({value.text}, 'map<string, variant>')")
    kept = Column(f"map_filter({fields.text}, (name, value) -> NOT array_contains({names.text}, name))")
    return when(call("size", others) > 0, coalesce(call("to_json", kept), value))
