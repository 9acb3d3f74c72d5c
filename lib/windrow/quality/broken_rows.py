"""Which rows broke the expectations of a suite: counted by file, with the first of them, in one pass over the rows.

Keys that must be unique take a second one, as rows of one key have to come together for it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import unquote

from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, Row

from windrow.compile.elements.row_rules import applies_to, is_broken
from windrow.compile.sql.columns import Column, any_of, call, col, lit, quoted, struct, when
from windrow.engine.frames import group, where, with_column
from windrow.quality.located import AT, ORDER, PLACE, LocatedRows
from windrow.quality.masking import Masking
from windrow.spec.errors import SpecError
from windrow.spec.quality.broken_rows import MOST, BrokenFile, BrokenRow, BrokenRows, RepeatedKey
from windrow.spec.quality.expectations import SHAPES, Expectation

_LONGEST = 80
"""Characters of a value that are listed."""
_SET = "column_distinct_values_to_be_in_set"
_AGAIN, _NUMBER, _ROWS = "_windrow_again_{}", "_windrow_number", "_windrow_rows"
_UNIQUE = ("column_values_to_be_unique", "compound_columns_to_be_unique")


def find_broken_rows(rows: LocatedRows, broken: Mapping[int, Expectation], masking: Masking) -> dict[int, BrokenRows]:
    """The rows that broke these expectations, by the numbers that these have; none for those about whole tables.

    None at all where Great Expectations has compared what Spark's SQL does not.
    """
    kinds = {field.name: field.dataType.simpleString() for field in rows.frame.schema.fields}
    try:
        return _Search(rows, kinds, masking).of(broken)
    except AnalysisException:
        return {}


@dataclass(frozen=True)
class _Search:
    """`kinds` are the types of the columns."""

    rows: LocatedRows
    kinds: Mapping[str, str]
    masking: Masking

    def of(self, broken: Mapping[int, Expectation]) -> dict[int, BrokenRows]:
        frame, conditions = self.rows.with_places(), {}
        for number, expectation in broken.items():
            condition = self._breaks(expectation)
            if expectation.expect in _UNIQUE:
                condition = col(_AGAIN.format(number))
                frame = with_column(frame, _AGAIN.format(number), self._repeats(expectation))
            if condition is not None:
                conditions[number] = condition
        if not conditions:
            return {}
        found = self._by_file(frame, {number: broken[number] for number in conditions}, conditions)
        for number in [number for number in found if broken[number].expect in _UNIQUE]:
            found[number] = self._with_keys(found[number], broken[number])
        return found

    def _breaks(self, expectation: Expectation) -> Column | None:
        """The condition under which a row breaks it; None where it is not about single rows."""
        if expectation.expect == _SET:
            expectation = replace(expectation, expect="column_values_to_be_in_set")
        if not SHAPES[expectation.expect].by_row:
            return None
        try:
            return is_broken([expectation], self.kinds)
        except SpecError:  # a text beside a column of times that is none: the library has compared it in its own way
            return None

    def _by_file(
        self, frame: DataFrame, broken: Mapping[int, Expectation], conditions: Mapping[int, Column]
    ) -> dict[int, BrokenRows]:
        counts, totals = {}, {}
        for number, condition in conditions.items():
            counts[f"judged_{number}"] = call("count_if", applies_to(broken[number]))
            counts[f"n_{number}"] = call("count_if", condition)
            counts[f"first_{number}"] = _if(condition, _first(self._row(broken[number]), col(ORDER)))
            n, judged, file = col(f"n_{number}"), col(f"judged_{number}"), col(PLACE, "file")
            top = struct(place=col(PLACE), n=n, judged=judged, first=col(f"first_{number}"))
            most = struct(n=n, place=col(PLACE))
            totals[f"rows_{number}"] = call("sum", n)
            totals[f"files_{number}"] = call("count_if", (n > 0) & file.is_not_null())
            totals[f"top_{number}"] = _if(n > 0, call("max_by", top, most, MOST))
        (found,) = group(group(frame, (PLACE,), counts), (), totals).collect()
        return {number: _broken_rows(found, number) for number in conditions if found[f"rows_{number}"]}

    def _with_keys(self, found: BrokenRows, expectation: Expectation) -> BrokenRows:
        """With the keys that are there more than once."""
        names = _columns(expectation)
        rows = where(self.rows.with_places(), _is_key(names) & applies_to(expectation))
        counts = {_NUMBER: call("count", 1), _ROWS: _first(self._row(expectation), col(ORDER))}
        repeated, n = where(group(rows, names, counts), col(_NUMBER) > 1), col(_NUMBER)
        key = struct(key=self._values(names), n=n, rows=col(_ROWS))
        most = struct(n=n, key=self._values(names))
        totals = {"keys": call("count", 1), "rows": call("sum", n), "top": call("max_by", key, most, MOST)}
        (row,) = group(repeated, (), totals).collect()
        keys = tuple(RepeatedKey(one["key"].asDict(), one["n"], _rows(one["rows"])) for one in row["top"])
        return BrokenRows(row["rows"], found.number_of_files, found.files, found.first, row["keys"], keys)

    def _repeats(self, expectation: Expectation) -> Column:
        """Whether a row has the key of an earlier one."""
        names = _columns(expectation)
        applies = applies_to(expectation)
        keys = ", ".join([*map(quoted, names), applies.text])
        again = Column(f"row_number() OVER (PARTITION BY {keys} ORDER BY {col(ORDER).text})") > 1
        return _is_key(names) & applies & again

    def _row(self, expectation: Expectation) -> Column:
        """A row as it is listed."""
        names = dict.fromkeys([*self.rows.names, *expectation.columns_shown])
        return struct(at=col(AT), values=self._values(names))

    def _values(self, names: Iterable[str]) -> Column:
        return struct(**{name: self.masking.column(name, _short(col(name))) for name in names})


def _columns(expectation: Expectation) -> list[str]:
    return [column for _, column in expectation.columns]


def _is_key(names: Iterable[str]) -> Column:
    """Rows in which all of these are missing have no key, as in Great Expectations."""
    return any_of(col(name).is_not_null() for name in names)


def _first(row: Column, order: Column) -> Column:
    return call("min_by", row, order, MOST)


def _if(condition: Column, aggregate: Column) -> Column:
    return Column(f"{aggregate.text} FILTER (WHERE {condition.text})")


def _short(value: Column) -> Column:
    text = value.cast("string")
    return when(call("length", text) > _LONGEST, call("concat", call("left", text, _LONGEST), lit("...")), text)


def _broken_rows(found: Row, number: int) -> BrokenRows:
    top = found[f"top_{number}"]
    files = tuple(
        BrokenFile(_path(one["place"]["file"]), one["n"], one["judged"], one["place"]["partition"]) for one in top
    )
    first = _rows([row for one in top for row in one["first"]][:MOST])
    return BrokenRows(found[f"rows_{number}"], found[f"files_{number}"], files, first)


def _rows(found: Iterable[Any]) -> tuple[BrokenRow, ...]:
    rows = [(row["values"].asDict(), row["at"].asDict()) for row in found]
    return tuple(BrokenRow(values, **{**at, "file": _path(at["file"])}) for values, at in rows)


def _path(offset: str | None) -> str | None:
    """As people write it, and `quarantine` takes it."""
    return None if offset is None else unquote(offset)
