"""The model's expressions: SQL's logic of three values, types, and what fails."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest

from tests.model.expressions import EvaluationFailed, evaluate, type_of
from windrow.spec.expressions import Expression
from windrow.spec.fields.reading import Named

TYPES = {
    "a": "bigint", "i": "int", "t": "tinyint", "z": "bigint", "n": "bigint", "x": "double", "d": "decimal(10, 2)",
    "s": "string", "yes": "boolean", "no": "boolean", "unknown": "boolean",
}  # fmt: skip
ROW = {
    "a": 7, "i": 2**31 - 1, "t": 127, "z": 0, "n": None, "x": 2.5, "d": Decimal("1.50"), "s": "12", "yes": True,
    "no": False, "unknown": None,
}  # fmt: skip

VALUES: list[tuple[str, Any, str]] = [
    ("a + 1", 8, "bigint"), ("a / 2", 3.5, "double"), ("a div 2", 3, "bigint"), ("-a div 2", -3, "bigint"),
    ("a % 4", 3, "bigint"), ("-a % 4", -3, "bigint"), ("a % -4", 3, "bigint"), ("-a", -7, "bigint"),
    ("a + x", 9.5, "double"), ("x * 2", 5.0, "double"), ("n + 1", None, "bigint"), ("A", 7, "bigint"),
    ("d + 1", Decimal("2.50"), "decimal(11, 2)"), ("d * d", Decimal("2.2500"), "decimal(21, 4)"),
    ("d / 4", Decimal("0.375000"), "decimal(14, 6)"), ("1.5", Decimal("1.5"), "decimal(2, 1)"),
    ("d + a", Decimal("8.50"), "decimal(23, 2)"), ("1e3", 1000.0, "double"), ("3000000000", 3_000_000_000, "bigint"),
    ("-2147483648", -(2**31), "int"), ("-9223372036854775808", -(2**63), "bigint"),
    ("a = 7", True, "boolean"), ("a <> 7", False, "boolean"), ("n = 7", None, "boolean"),
    ("n <=> null", True, "boolean"),
    ("a <=> null", False, "boolean"), ("a > 2.5", True, "boolean"), ("d = 1.5", True, "boolean"),
    ("x < a", True, "boolean"),
    ("n is null", True, "boolean"), ("n is not null", False, "boolean"), ("unknown is true", False, "boolean"),
    ("unknown is not true", True, "boolean"), ("not unknown", None, "boolean"),
    ("yes and unknown", None, "boolean"), ("no and unknown", False, "boolean"), ("unknown and no", False, "boolean"),
    ("yes or unknown", True, "boolean"), ("unknown or yes", True, "boolean"), ("no or unknown", None, "boolean"),
    ("a between 7 and 9", True, "boolean"), ("a not between 7 and 9", False, "boolean"),
    ("a between n and 3", False, "boolean"),
    ("a in (1, 7)", True, "boolean"), ("a in (1, null)", None, "boolean"), ("a not in (1, 2)", True, "boolean"),
    ("s like '1%'", True, "boolean"), ("s like '_'", False, "boolean"), ("s not like '%3'", True, "boolean"),
    ("case when a > 9 then 1 when a > 5 then 2 else 3 end", 2, "int"), ("case when no then 1 end", None, "int"),
    ("case a when 7 then x else 1 end", 2.5, "double"), ("if(unknown, 1, 2)", 2, "int"),
    ("coalesce(n, i, 1)", 2**31 - 1, "bigint"),
    ("nullif(a, 7)", None, "bigint"), ("greatest(a, n, 9)", 9, "bigint"), ("least(a, n, 9)", 7, "bigint"),
    ("abs(-a)", 7, "bigint"), ("length(s)", 2, "int"), ("upper('a' || s)", "A12", "string"),
    ("concat(s, s)", "1212", "string"),
    ("cast(s as int)", 12, "int"), ("cast(' 7 ' as bigint)", 7, "bigint"), ("cast(x as int)", 2, "int"),
    ("cast(yes as int)", 1, "int"),
    ("cast(d as int)", 1, "int"), ("cast(a as string)", "7", "string"),
    ("cast(s as decimal(4, 1))", Decimal("12.0"), "decimal(4, 1)"),
    ("cast('t' as boolean)", True, "boolean"), ("try_cast('x' as int)", None, "int"), ("cast(n as int)", None, "int"),
    # what is not reached does not fail; a null beside a zero is a null
    ("no and 1 / z = 1", False, "boolean"), ("yes or 1 / z = 1", True, "boolean"),
    ("if(z = 0, 0, a div z)", 0, "bigint"),
    ("coalesce(a, a div z)", 7, "bigint"), ("case when z = 0 then 0 else a / z end", 0.0, "double"),
    ("n / z", None, "double"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "value", "kind"), VALUES, ids=[text for text, _, _ in VALUES])
def test_value_and_type(text: str, value: Any, kind: str) -> None:
    expression = Expression.parse(text)
    assert type_of(expression, TYPES) == kind
    found = evaluate(expression, ROW, TYPES)
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize(
    "text",
    [
        "a / z", "a % z", "a div z", "x / 0", "d / 0", "i + 1", "i * 2", "-(-2147483647 - 1)",
        "a + 9223372036854775807",
        "t + t", "abs(-9223372036854775808)", "cast(s || 'x' as int)", "cast('1.5' as int)", "cast(3000000000 as int)",
        "cast('maybe' as boolean)", "cast(1e300 as bigint)", "cast(1000 as decimal(4, 2))", "unknown and 1 / z = 1",
        "1 / z = 1 and no", "coalesce(n, a div z)", "case when 1 / z = 1 then 1 else 2 end", "n + 1 / z",
        "cast('2000-02-30' as date)",
    ],
)  # fmt: skip
def test_failure(text: str) -> None:
    with pytest.raises(EvaluationFailed):
        evaluate(Expression.parse(text), ROW, TYPES)


def test_times_and_structs() -> None:
    types, row = {**TYPES, "ts": "timestamp"}, {**ROW, "ts": datetime(1970, 1, 1, 0, 0, 1, 5, UTC)}
    micros, struct = Expression.parse("unix_micros(ts)"), Expression.parse("named_struct('k', s, 'v', n)")
    assert (evaluate(micros, row, types), type_of(micros, types)) == (1_000_005, "bigint")
    assert evaluate(struct, row, types) == Named({"k": "12", "v": None})
    assert type_of(struct, types) == "struct<k: string, v: bigint>"
