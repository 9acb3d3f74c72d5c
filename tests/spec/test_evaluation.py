"""Expressions in plain Python: as the reference model has them, which has other code, and never a guess."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.model import test_expressions as model
from tests.model.expressions import EvaluationFailed
from tests.model.expressions import evaluate as by_model
from windrow.spec.evaluation.evaluate import Evaluator
from windrow.spec.evaluation.kinds import Failed, NotEvaluated
from windrow.spec.expressions import Expression

HERE = Evaluator(model.TYPES)
FAILING = next(mark.args[1] for mark in model.test_failure.pytestmark if mark.name == "parametrize")


@pytest.mark.parametrize(("text", "value", "kind"), model.VALUES, ids=[text for text, _, _ in model.VALUES])
def test_value_and_type(text: str, value: Any, kind: str) -> None:
    expression = Expression.parse(text)
    assert HERE.kind_of(expression) == kind.replace(" ", "")
    found = HERE.evaluate(expression, model.ROW)
    assert found == value and type(found) is type(value)


@pytest.mark.parametrize("text", FAILING)
def test_failure(text: str) -> None:
    with pytest.raises(Failed):
        HERE.evaluate(Expression.parse(text), model.ROW)


TIMES = {"at": "timestamp", "day": "date", "s": "string", "t": "string", "n": "bigint"}
MOMENT = 1_359_055_830_000_000
"""2013-01-24 19:30:30."""
ROW = {"at": MOMENT, "day": None, "s": "2013-01-24T19:30:30Z", "t": " a_b ", "n": 12}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("unix_micros(at)", MOMENT), ("unix_seconds(at)", MOMENT // 1_000_000), ("hour(at)", 19), ("minute(at)", 30),
        ("year(at)", 2013), ("quarter(at)", 1), ("dayofweek(at)", 5), ("weekday(at)", 3), ("dayofyear(at)", 24),
        ("cast(s as timestamp)", MOMENT), ("at > timestamp '2013-01-24 19:00:00'", True), ("day is null", True),
        ("at >= timestamp '2013-01-24 19:30'", True), ("cast(at as date) = date '2013-01-24'", True),
        ("(unix_micros(at) - 30000000) div 60000000", 22_650_930), ("trim(t)", "a_b"), ("upper(t)", " A_B "),
        (r"t like '%a\\_b%'", True), ("t ilike '%A%'", True), ("substring(t, 2, 2)", "a_"), ("left(t, 2)", " a"),
        ("right(t, 2)", "b "), ("substring(t, -2)", "b "), ("startswith(t, ' a')", True), ("contains(t, '_')", True),
        ("replace(s, ':', '.')", "2013-01-24T19.30.30Z"), ("lpad(t, 7, '-')", "-- a_b "), ("instr(t, '_')", 3),
        ("date_trunc('day', at)", MOMENT - 70_230_000_000), ("last_day(cast(at as date)) = date '2013-01-31'", True),
        ("nvl2(day, 1, 2)", 2), ("equal_null(day, null)", True), ("floor(n / 5)", 2), ("pmod(-n, 5)", 3),
        ("mod(n, 5)", 2), ("cast(at as bigint)", MOMENT // 1_000_000), ("cast(at as string)", "2013-01-24 19:30:30"),
    ],
)  # fmt: skip
def test_times_and_texts(text: str, value: Any) -> None:
    assert Evaluator(TIMES).evaluate(Expression.parse(text), ROW) == value


@pytest.mark.parametrize(
    "text",
    ["md5(s)", "s rlike 'a+'", "n & 3", "s > n", "cast('2013' as date)", "cast(s as double)", "at - at",
     "missing + 1", "round(n / 3, 2)", "array(n, n)", "upper('\u00e4' || s)", "date_format(at, 'yyyy')"],
)  # fmt: skip
def test_what_only_spark_knows_is_not_evaluated(text: str) -> None:
    with pytest.raises(NotEvaluated):
        Evaluator(TIMES).evaluate(Expression.parse(text), ROW)


_NUMBERS = st.sampled_from(["a", "i", "t", "n", "x", "d", "1", "0", "-3", "2.5", "1e2", "null"])
_TRUTHS = st.sampled_from(["yes", "no", "unknown", "a > 3", "n is null", "x in (1, 2.5)", "s like '1%'"])


def _combined(below: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    signs = st.sampled_from(["+", "-", "*", "/", "%", "div"])
    numbers = st.builds(lambda left, sign, right: f"({left}) {sign} ({right})", below, signs, below)
    chosen = st.builds(lambda test, one, other: f"if({test}, {one}, {other})", _TRUTHS, below, below)
    return numbers | chosen | st.builds(lambda one, other: f"coalesce({one}, {other})", below, below)


@given(
    text=st.recursive(_NUMBERS, _combined, max_leaves=5),
    values=st.fixed_dictionaries(
        {
            "a": st.none() | st.integers(-(2**63), 2**63 - 1) | st.integers(-3, 3),
            "i": st.integers(-(2**31), 2**31 - 1),
            "x": st.none() | st.floats(allow_nan=False, allow_infinity=False, width=32),
            "d": st.none() | st.decimals(-(10**8) + 1, 10**8 - 1, places=2),
        }
    ),
)
def test_numbers_are_those_of_the_model(text: str, values: dict[str, Any]) -> None:
    """The same value, or both fail; what the model does not know is not known here either, or is no guess."""
    expression, row = Expression.parse(text), {**model.ROW, **values}
    try:
        expected: Any = by_model(expression, row, model.TYPES)
    except EvaluationFailed:
        expected = Failed
    except (NotImplementedError, KeyError, OverflowError):
        return
    try:
        found: Any = HERE.evaluate(expression, row)
    except Failed:
        found = Failed
    except NotEvaluated:
        return
    assert found == expected and (not isinstance(found, Decimal) or str(found) == str(expected))
