"""JSON texts as rows of a schema: what cannot be read comes as a row with its text."""

from __future__ import annotations

from collections.abc import Iterable

from pyspark.sql import DataFrame

from windrow.compile.elements.envelope import RAW
from windrow.compile.sql.columns import Column, array, call, case, coalesce, col, named, text, when
from windrow.spec.fields.schemas import Schema
from windrow.spec.sources.source import RESCUED

_PARSED = "_parsed"


def json_rows(frame: DataFrame, schema: Schema, column: str, keep: Iterable[str]) -> DataFrame:
    """The columns of the schema from one JSON object in each text of `column`, `_rescued`, `_raw`, and those to keep.

    `_rescued` has the fields that the schema does not name, as JSON, and is null where there are none. `_raw` is null
    where the text is an object of the schema, else the text; for a text that is null it is `null`.
    """
    kept = [named(name, col(name)) for name in keep]
    value = col(column)
    parsed = frame.selectExpr(*kept, value.text, named(_PARSED, _object(schema, value)))
    columns = [named(name, col(_PARSED, name)) for name in schema]
    whole = coalesce(call("make_valid_utf8", value), "null")
    broken = case((col(_PARSED).is_null(), whole), otherwise=call("make_valid_utf8", col(_PARSED, RAW)))
    return parsed.selectExpr(*columns, named(RESCUED, _unknown(schema, value)), named(RAW, broken), *kept)


def _object(schema: Schema, value: Column) -> Column:
    options = call("map", "mode", "PERMISSIVE", "columnNameOfCorruptRecord", RAW)
    return Column(f"from_json({value.text}, {text(f'{schema.ddl}, `{RAW}` string')}, {options.text})")


def _unknown(schema: Schema, value: Column) -> Column:
    """The fields that are not of the schema. Most rows have none, and are looked through for names only."""
    names = array(*schema)
    others = call("array_except", call("json_object_keys", value), names)
    fields = Column(f"from_json({value.text}, 'map<string, variant>')")
    kept = Column(f"map_filter({fields.text}, (name, value) -> NOT array_contains({names.text}, name))")
    return when(call("size", others) > 0, coalesce(call("to_json", kept), value))
