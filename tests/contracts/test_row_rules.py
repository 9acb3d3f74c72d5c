"""A rule of rows rejects exactly the rows that Great Expectations counts as unexpected, whatever the values."""

import pytest

from windrow.compile.elements.row_rules import broken_names, is_broken
from windrow.compile.sql.columns import col, struct
from windrow.engine.frames import where, with_column
from windrow.quality.gate import judge
from windrow.quality.located import LocatedRows
from windrow.quality.own import judge_schema
from windrow.spec.fields.schemas import Schema
from windrow.spec.quality.expectations import SHAPES
from windrow.spec.quality.judgements import Outcome
from windrow.spec.quality.suites import Suite

SCHEMA = Schema.parse("n int, f double, s string, t timestamp, b boolean, other int")
RULES = [
    {"expect": "column_values_to_not_be_null", "column": "n"},
    {"expect": "column_values_to_be_null", "column": "s"},
    {"expect": "column_values_to_be_between", "column": "n", "min_value": 2, "max_value": 5},
    {"expect": "column_values_to_be_between", "column": "n", "min_value": 2, "max_value": 5, "strict_min": True,
     "strict_max": True},
    {"expect": "column_values_to_be_between", "column": "f", "max_value": 2.5},
    {"expect": "column_values_to_be_between", "column": "t", "min_value": "2013-01-01T00:00:03"},
    {"expect": "column_values_to_be_in_set", "column": "t", "value_set": ["2013-01-01", "2013-01-01T00:00:03Z"]},
    {"expect": "column_values_to_be_in_set", "column": "s", "value_set": ["a", "it's", "${env:HOME}"]},
    {"expect": "column_values_to_be_in_set", "column": "n", "value_set": [1, 2, 3]},
    {"expect": "column_values_to_not_be_in_set", "column": "s", "value_set": ["a", "b"]},
    {"expect": "column_values_to_match_regex", "column": "s", "regex": "^[a-c]\\d*$"},
    {"expect": "column_values_to_not_match_regex", "column": "s", "regex": "\\d"},
    {"expect": "column_value_lengths_to_be_between", "column": "s", "min_value": 1, "max_value": 2},
    {"expect": "column_pair_values_a_to_be_greater_than_b", "column_A": "n", "column_B": "other"},
    {"expect": "column_pair_values_a_to_be_greater_than_b", "column_A": "n", "column_B": "other", "or_equal": True},
    {"expect": "column_pair_values_to_be_equal", "column_A": "n", "column_B": "other"},
    {"expect": "unexpected_rows", "condition": "n > other and s is not null"},
]  # fmt: skip
TEXTS = "array('a', 'b', 'c12', '', NULL, 'it\\'s', 'zz9', '\\\\')"


def test_both_count_the_same_rows(spark) -> None:
    rows = spark.range(200).selectExpr(
        "CAST(IF(id % 7 = 0, NULL, id % 9) AS INT) AS n",
        "CASE id % 6 WHEN 0 THEN NULL WHEN 1 THEN double('NaN') WHEN 2 THEN double('inf') ELSE id / 20 END AS f",
        f"{TEXTS}[CAST(id % 8 AS INT)] AS s",
        "timestamp_seconds(1356998400 + id % 8) AS t",
        "id % 2 = 0 AS b",
        "CAST(IF(id % 5 = 0, NULL, id % 4) AS INT) AS other",
    )
    suite = Suite.from_list([{**rule, "severity": "info", "row": True} for rule in RULES])
    suite.check_source(SCHEMA)
    assert {rule.expect for rule in suite.row_rules} == {name for name, shape in SHAPES.items() if shape.by_row}
    result = judge("rows", LocatedRows(rows, rows.columns, struct(n=col("n")), {}), suite)
    for rule, judgement in zip(suite.expectations, result.judgements, strict=True):
        broken = where(rows, is_broken([rule], SCHEMA)).count()
        assert judgement.outcome is not Outcome.ERROR, judgement
        assert judgement.figure.startswith(f"{broken} of 200 rows"), str(rule)
        assert (judgement.outcome is Outcome.FAILED) == (broken > 0), str(rule)
        assert (judgement.broken.rows if judgement.broken else 0) == broken, str(rule)
    named = with_column(rows, "names", broken_names(suite.row_rules, SCHEMA))
    assert named.where("n IS NULL AND names NOT LIKE '%column_values_to_not_be_null(n)%'").isEmpty()


def test_a_row_condition_chooses_the_rows_that_are_judged(spark) -> None:
    """The same ones for a rule of rows, for Great Expectations, and for what is said of the rows that broke it."""
    rows = spark.range(40).selectExpr("CAST(id AS INT) AS n", "IF(id % 4 = 0, NULL, CAST(id % 3 AS STRING)) AS s")
    of_few = {"row_condition": "n >= 20", "severity": "info"}
    suite = Suite.from_list(
        [
            {"expect": "column_values_to_not_be_null", "column": "s", **of_few, "row": True},
            {"expect": "unexpected_rows", "condition": "s = '1'", **of_few, "row": True, "mostly": 0.5},
            {"expect": "column_values_to_be_unique", "column": "s", **of_few},
            {"expect": "column_max_to_be_between", "column": "n", "max_value": 10, **of_few},
            {"expect": "table_row_count_to_equal", "value": 20, **of_few},
            {"expect": "column_values_to_be_of_type", "column": "n", "type_": "long"},
            {"expect": "column_values_to_be_in_type_list", "column": "n", "type_list": ["long", "integer"]},
            {"expect": "table_columns_to_match_set", "column_set": ["n", "t"]},
            {"expect": "unexpected_rows", "condition": "1 / (n - n) > 0 or s + 1 > 0 and s > 5"},
            {"expect": "unexpected_rows", "condition": "array(n) > 1"},
        ]
    )
    located = LocatedRows(rows, rows.columns, struct(n=col("n")), {})
    result = judge("rows", located, suite)
    there, some, unique, most, number, kind, kinds, columns, fails, unclear = result.judgements
    assert there.figure == "5 of 20 rows (25.00 %)" and there.broken is not None and there.broken.rows == 5
    assert where(rows, is_broken([suite.expectations[0]], {"n": "int", "s": "string"})).count() == 5
    assert there.expectation == "column_values_to_not_be_null(s, row_condition=n >= 20)"
    assert (some.outcome, some.figure, some.rows_broken) == (Outcome.PASSED, "5 of 20 rows (25.00 %)", 5)
    assert unique.broken is not None and (unique.broken.rows, unique.broken.number_of_keys) == (15, 3)
    assert unique.figure.startswith("15 of 20 rows") and {row.values["n"] for row in unique.broken.keys[0].rows} > {
        "23"
    }
    assert (most.outcome, most.value, number.outcome) == (Outcome.FAILED, 39.0, Outcome.PASSED)
    assert [(one.outcome, one.figure) for one in (kind, kinds, columns)] == [
        (Outcome.FAILED, "int"), (Outcome.PASSED, "int"), (Outcome.FAILED, "no t, also s")
    ]  # fmt: skip
    assert fails.outcome is Outcome.PASSED, "what fails or is null is not true"
    assert unclear.outcome is Outcome.ERROR and unclear.figure.startswith("could not be checked: DATATYPE_MISMATCH")


@pytest.mark.parametrize(
    ("written", "kind", "is_right"),
    [
        ("decimal(10, 2)", "decimal(10,2)", True),
        ("map<string, array<int>>", "map<string,array<int>>", True),
        ("struct<A: int, b: string>", "struct<A:int,b:string>", True),
        ("decimal(10, 2)", "decimal(12,2)", False),
    ],
)
def test_types_are_those_of_spark_however_they_are_written(written: str, kind: str, is_right: bool) -> None:
    for more in ({"type_": written}, {"type_list": ["string", written]}):
        name = "column_values_to_be_of_type" if "type_" in more else "column_values_to_be_in_type_list"
        (expectation,) = Suite.from_list([{"expect": name, "column": "n", **more}]).expectations
        assert (judge_schema(expectation, {"n": kind}).outcome is Outcome.PASSED) == is_right
