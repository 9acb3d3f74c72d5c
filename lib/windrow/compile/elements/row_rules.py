"""Rules of rows as columns: which expectations a row breaks when it lands.

A rule is broken where it is false; where a value is missing it says nothing, as in Great Expectations.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from windrow.compile.sql.columns import Column, all_of, any_of, bigint, call, coalesce, col, lit, when
from windrow.spec.expressions import Expression
from windrow.spec.quality.expectations import Expectation
from windrow.spec.times import parse_time

_TIMES = ("date", "timestamp", "timestamp_ntz")


def is_broken(rules: Sequence[Expectation], schema: Mapping[str, str]) -> Column:
    """Whether a row breaks any of the rules. `schema` has the type of each column."""
    return any_of(_is_broken(rule, schema) for rule in rules)


def broken_names(rules: Sequence[Expectation], schema: Mapping[str, str]) -> Column:
    """The rules that a row breaks, as one text."""
    names = [when(_is_broken(rule, schema), str(rule)) for rule in rules]
    return call("concat_ws", ", ", *names)


def applies_to(rule: Expectation) -> Column:
    """Whether a row is one of those that a rule is about."""
    return lit(True) if rule.row_condition is None else is_true(rule.row_condition)


def is_true(condition: Expression) -> Column:
    """Whether a condition holds for a row: not where it is null, or fails."""
    return coalesce(Column(f"CAST({condition.value_sql} AS BOOLEAN)"), False)


def _is_broken(rule: Expectation, schema: Mapping[str, str]) -> Column:
    broken = _broken(rule, schema)
    return broken if rule.row_condition is None else applies_to(rule) & broken


def _broken(rule: Expectation, schema: Mapping[str, str]) -> Column:
    given = rule.arguments
    match rule.expect:
        case "column_values_to_not_be_null":
            return col(given["column"]).is_null()
        case "column_values_to_be_null":
            return col(given["column"]).is_not_null()
        case "column_values_to_be_between":
            return _false(_between(col(given["column"]), given, schema[given["column"]]))
        case "column_value_lengths_to_be_between":
            return _false(_between(call("length", col(given["column"])), given, "int"))
        case "column_values_to_be_in_set":
            return _false(_is_in(given, schema))
        case "column_values_to_not_be_in_set":
            return coalesce(_is_in(given, schema), False)
        case "column_values_to_match_regex":
            return _false(col(given["column"]).rlike(given["regex"]))
        case "column_values_to_not_match_regex":
            return coalesce(col(given["column"]).rlike(given["regex"]), False)
        case "column_pair_values_a_to_be_greater_than_b":
            left, right = col(given["column_A"]), col(given["column_B"])
            return _false(left >= right if given.get("or_equal") else left > right)
        case "column_pair_values_to_be_equal":
            return _false(col(given["column_A"]) == col(given["column_B"]))
        case "unexpected_rows":
            return is_true(given["condition"])
        case _:
            raise NotImplementedError(rule.expect)


def _false(condition: Column) -> Column:
    """Where it is false, and not where it is unknown."""
    return coalesce(~condition, False)


def _between(value: Column, given: Mapping[str, Any], kind: str) -> Column:
    bounds = []
    if "min_value" in given:
        low = _literal(given["min_value"], kind)
        bounds.append(value > low if given.get("strict_min") else value >= low)
    if "max_value" in given:
        high = _literal(given["max_value"], kind)
        bounds.append(value < high if given.get("strict_max") else value <= high)
    return all_of(bounds)


def _is_in(given: Mapping[str, Any], schema: Mapping[str, str]) -> Column:
    column = given["column"]
    values = ", ".join(_literal(value, schema[column]).text for value in given["value_set"])
    return Column(f"({col(column).text} IN ({values}))")


def _literal(value: Any, kind: str) -> Column:
    """A value of a suite beside a column of that type; a text beside a time is a time."""
    if isinstance(value, str) and kind in _TIMES:
        return call("timestamp_micros", bigint(parse_time(value))).cast(kind)
    return lit(value)
