"""Expressions against Spark: it reads the same tree, and raises with ANSI on exactly where a failure is foretold.

An argument that fails beside a null is a failure for windrow, while Spark may look at the null only: on rows with
nulls, and only there, Spark may be more lenient.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from datetime import date

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession

from tests.spec.test_expressions import ACCEPTED
from windrow.spec.evaluation.evaluate import Evaluator
from windrow.spec.evaluation.kinds import Failed, NotEvaluated
from windrow.spec.expressions import Expression
from windrow.spec.expressions.constants import text_literal
from windrow.spec.expressions.functions import FUNCTIONS

COLUMNS = {
    "i": "int", "j": "int", "l": "bigint", "k": "bigint", "t": "tinyint", "d": "double", "e": "double",
    "n": "decimal(38,2)", "s": "string", "u": "string", "b": "boolean", "day": "date", "ts": "timestamp",
    "list": "array<int>", "words": "array<string>", "dict": "map<string,int>",
}  # fmt: skip

ROWS = {
    "plain": """7, 2, 70, 3, 5, 1.5, 0.5, 12.34, '42', '2024-02-29', true, date '2024-02-29',
        timestamp '2024-02-29 10:20:30.5', array(1, 2, 3), array('x', 'y'), map('k', 1)""",
    "zeros": """0, 0, 0, 0, 0, 0, 0, 0, '0', '', false, date '1970-01-01', timestamp '1970-01-01 00:00:00',
        cast(array() as array<int>), cast(array() as array<string>), cast(map() as map<string, int>)""",
    "least": """-2147483648, -1, -9223372036854775808, -1, -128, -1e308, -1, -999999999999999999999999999999999999.99,
        'abc', 'a%ZZb', true, date '0001-01-01', timestamp '0001-01-01 00:00:00', array(5), array('x'), map('j', 2)""",
    "greatest": """2147483647, 2147483647, 9223372036854775807, 9223372036854775807, 127, 1e308, 1e-300,
        999999999999999999999999999999999999.99, ' 7 ', '2024-02-30', false, date '9999-12-31',
        timestamp '9999-12-31 23:59:59.999999', array(1, cast(null as int)), array('x', cast(null as string)),
        map('k', cast(null as int))""",
    "not a number": """3, 0, 5, 0, 1, double('NaN'), 1, 0.01, '1e3', '2024-02-29 10:00:00', true, date '2024-03-31',
        timestamp '2024-03-31 23:00:00', array(4, 5), array('y'), map('k', 3)""",
    "infinite": """1, -2, 9223372036854, -5, -1, double('-Infinity'), 0, -0.01, 'true', '{"a": 1}', false,
        date '2024-12-31', timestamp '1969-12-31 23:59:59.999999', array(9, 8, 7), array('z'), map('k', 0)""",
    "too many seconds": """2, 1, 9223372036855, 2, 2, 0.1, 3e9, 99999.99, '9223372036854775808', 'x,y', true,
        date '2000-01-01', timestamp '2000-01-01 00:00:00', array(1), array('x'), map('k', 5)""",
    "nulls": ", ".join(["null"] * len(COLUMNS)),
    "nulls beside": "null, 0, null, 0, null, null, 0, null, null, 'bad', null, null, null, null, null, null",
}
HAS_NULLS = {number for number, name in enumerate(ROWS) if name.startswith("nulls")}

OPERATORS = [
    "i + j", "i - j", "i * j", "l + k", "l - k", "l * k", "t + t", "t * t", "n + n", "n * n", "n * 10", "i + 1.5",
    "d + e", "i / j", "l / k", "d / e", "n / e", "n / n", "i % j", "l % k", "d % e", "n % k", "i % 3", "i div j",
    "l div k", "t div j", "i div -1", "l div -1", "l div 7", "-i", "-l", "-t", "-d", "-(i + j)",
    "-(l div k) + 1", "abs(i)", "abs(l)", "abs(t)", "abs(d)", "negative(l)", "mod(l, k)", "pmod(i, j)",
    "pmod(l, k)", "pmod(d, e)", "(i + j) * (l / k)", "i + j + i - j * i",
]  # fmt: skip
CASTS = [
    "cast(s as int)", "cast(s as bigint)", "s::double", "s::boolean", "s::decimal(5, 2)", "s::tinyint", "u::date",
    "u::timestamp", "cast(l as int)", "cast(l as tinyint)", "cast(e as int)", "cast(e as tinyint)",
    "cast(n as bigint)", "cast(n as decimal(5, 1))", "cast(i as decimal(3, 1))", "cast(i as string)",
    "cast(ts as date)", "cast(day as timestamp)", "cast(l as timestamp)", "cast(b as int)", "cast(ts as bigint)",
    "try_cast(s as int)", "s::int + u::int", "to_date(u)", "to_date(u, 'yyyy-MM-dd')", "to_timestamp(u)",
    "to_timestamp(u, 'yyyy-MM-dd')", "to_timestamp(u, 'yyyy-MM-dd HH:mm:ss')", "to_timestamp(ts)",
    "try_to_timestamp(u, 'yyyy-MM-dd')", "timestamp_seconds(l)", "timestamp_seconds(i)", "timestamp_millis(l)",
    "timestamp_millis(i)", "url_decode(u)",
]  # fmt: skip
TIMES = [
    "ts + interval 1 day", "ts - interval 3 hour", "ts + interval 290000 year", "ts - interval 290000 year",
    "day + interval 1 month", "day - day", "ts - ts", "ts - timestamp '2024-01-01 00:00:00' > interval 1 day",
]  # fmt: skip
ELEMENTS = [
    "list[0]", "list[2]", "list[-1]", "list[i]", "list[j] + list[j + 1]", "words[1]", "dict['k']", "dict['k'] + i",
    "split(u, ',')[1]", "element_at(list, 1)", "element_at(list, -2)", "element_at(dict, 'k')", "size(list) / j",
    "array(i + j, 1)[0]", "named_struct('x', i / j).x > 1",
]  # fmt: skip
BRANCHES = [
    "b and i / j > 1", "not b or i / j > 1", "j <> 0 and l / j > 1", "j = 0 or l / j > 1", "i / j > 1 and b",
    "case when j <> 0 then i / j end", "case when i / j > 1 then 1 when b then l + 1 else s::int end",
    "case i / j when 1 then 'x' when l + k then 'y' end", "case when b then i / j when k = 0 then l + l else k end",
    "if(b, i / j, l * k)", "if(i / j > 1, 1, 2)", "coalesce(list[1], i / j, 0)", "coalesce(i, l + k)",
    "nvl(dict['k'], s::int)", "ifnull(i, j)", "nvl2(dict['k'], i + j, l / k)", "nullif(i / j, 1)",
    "greatest(i + j, 1)", "i / j in (1, 2)", "i / j is null", "i / j <=> 1", "s::int between 1 and i + 1",
    "upper(concat(s::int::string, 'x')) = '42X'",
]  # fmt: skip
CAN_FAIL = [*OPERATORS, *CASTS, *TIMES, *ELEMENTS, *BRANCHES]


def each(example: str, names: str) -> dict[str, str]:
    return {name: example.format(name) for name in names.split()}


EXAMPLES = {
    **each(
        "{}(d)", "sign signum sqrt cbrt exp expm1 ln log10 log2 log1p floor ceil ceiling rint sin cos tan asin acos"
    ),
    **each("{}(d)", "atan sinh cosh tanh degrees radians isnan"),
    **each("{}(d, e)", "power pow hypot atan2 nanvl greatest least"),
    **each("{}(i, j)", "nvl ifnull nullif equal_null coalesce mod pmod array hash xxhash64"),
    **each("{}(i, j)", "shiftleft shiftright shiftrightunsigned"),
    **each("{}(i, j)", "try_add try_subtract try_multiply try_divide try_mod"),
    **each("{}(i)", "isnull isnotnull nullifzero zeroifnull bit_count abs negative"),
    **each("{}(i)", "date_from_unix_date timestamp_micros timestamp_seconds timestamp_millis"),
    **each("{}(s)", "lower lcase upper ucase trim ltrim rtrim btrim initcap reverse ascii md5 sha sha1 crc32"),
    **each("{}(s)", "length char_length character_length octet_length bit_length url_encode url_decode"),
    **each("{}(s)", "try_url_decode to_timestamp try_to_timestamp"),
    **each("{}(s, 2)", "left right substring substr lpad rpad"),
    **each("{}(s, '4')", "startswith endswith contains instr replace"),
    **each("{}(ts)", "year quarter month day dayofmonth dayofweek dayofyear weekday weekofyear last_day"),
    **each("{}(ts)", "hour minute second unix_seconds unix_millis unix_micros"),
    **each("{}(day, j)", "date_add date_sub"),
    **each("{}(day, date '2024-01-01')", "datediff date_diff"),
    **each("{}(list)", "size cardinality array_size array_distinct array_max array_min array_sort sort_array"),
    **each("{}(list, 1)", "array_contains array_position array_remove array_append array_prepend get"),
    **each("{}(list, 1)", "element_at try_element_at"),
    **each("{}(list, array(1))", "array_union array_intersect array_except arrays_overlap"),
    **each("{}(dict)", "map_keys map_values"),
    "pi": "pi()",
    "e": "e()",
    "log": "log(2, d)",
    "round": "round(n, 1)",
    "bround": "bround(d, 1)",
    "if": "if(b, i, j)",
    "nvl2": "nvl2(i, j, 0)",
    "translate": "translate(s, 'ab', 'xy')",
    "concat": "concat(s, u)",
    "concat_ws": "concat_ws('-', s, u)",
    "split_part": "split_part(u, ',', -1)",
    "regexp_extract": "regexp_extract(u, '([a-z]+),', 1)",
    "regexp_replace": "regexp_replace(u, '([0-9])-', '$1/')",
    "regexp_like": "regexp_like(u, '^[0-9]{4}')",
    "split": "split(u, '[,-]')",
    "get_json_object": "get_json_object(u, '$.a')",
    "locate": "locate('4', s)",
    "sha2": "sha2(s, 256)",
    "unix_date": "unix_date(day)",
    "months_between": "months_between(ts, timestamp '2024-01-01 00:00:00')",
    "date_trunc": "date_trunc('week', ts)",
    "trunc": "trunc(day, 'quarter')",
    "date_format": "date_format(ts, 'yyyy-MM-dd EEE HH:mm:ss.SSS')",
    "to_date": "to_date(u, 'yyyy-MM-dd')",
    "map_contains_key": "map_contains_key(dict, 'k')",
    "array_join": "array_join(words, '-')",
    "named_struct": "named_struct('x', i, 'y', s)",
}
EVERYTHING = list(dict.fromkeys([*CAN_FAIL, *EXAMPLES.values()]))
CANNOT_FAIL = [text for text in EVERYTHING if Expression.parse(text).failure_sql is None]
MAY_FAIL = [text for text in EVERYTHING if text not in CANNOT_FAIL]


@contextmanager
def ansi(spark: SparkSession, on: bool) -> Iterator[None]:
    before = spark.conf.get("spark.sql.ansi.enabled")
    spark.conf.set("spark.sql.ansi.enabled", str(on).lower())
    try:
        yield
    finally:
        spark.conf.set("spark.sql.ansi.enabled", before or "false")


@pytest.fixture(scope="module")
def rows(spark: SparkSession) -> DataFrame:
    """The rows, cut off from the constants that they were made of, so that Spark folds nothing away."""
    values = ", ".join(f"({number}, {row})" for number, row in enumerate(ROWS.values()))
    typed = [f"cast({name} as {kind}) as {name}" for name, kind in COLUMNS.items()]
    with ansi(spark, False):
        frame = spark.sql(f"select * from values {values} as t(id, {', '.join(COLUMNS)})")
        return frame.selectExpr("id", *typed).localCheckpoint()


def evaluated(frame: DataFrame, texts: Iterable[str]) -> list[dict[int, str | None]]:
    """For each expression its value as a text by row: in one job; if that fails, one by one, to name the culprit.

    A negative zero is zero, as windrow has no other.
    """
    wanted = list(texts)
    columns = [f"cast(({text}) as string) as c{place}" for place, text in enumerate(wanted)]
    try:
        found = frame.selectExpr("id", *columns).collect()
    except Exception as error:
        if len(wanted) == 1:
            raise AssertionError(f"{wanted[0]} raised {error}") from error
        for text in wanted:
            evaluated(frame, [text])
        raise
    values = [{row["id"]: row[f"c{place}"] for row in found} for place in range(len(wanted))]
    return [{number: "0.0" if value == "-0.0" else value for number, value in by_row.items()} for by_row in values]


def raises(frame: DataFrame, text: str) -> bool:
    """Whether the expression raises on a row; an expression that cannot be analysed is a mistake of the test."""
    try:
        frame.selectExpr(f"cast(({text}) as string)").collect()
    except AnalysisException:
        raise
    except Exception:
        return True
    return False


def test_every_function_of_the_list_has_an_example() -> None:
    assert set(EXAMPLES) == set(FUNCTIONS)


SAME_MEANING = {"not (a is null)"}  # `is not null` is a node of its own in Spark


def test_spark_reads_the_text_as_the_tree_of_the_user(spark: SparkSession) -> None:
    parser = spark._jsparkSession.sessionState().sqlParser()
    for text in [text for text in (*ACCEPTED, *EVERYTHING) if text not in SAME_MEANING]:
        as_written = parser.parseExpression(text).toString()
        assert parser.parseExpression(Expression.parse(text).text).toString().lower() == as_written.lower(), text


def test_values_raise_on_no_row_and_do_not_depend_on_ansi(spark: SparkSession, rows: DataFrame) -> None:
    guards = [Expression.parse(text) for text in EVERYTHING]
    texts = [text for guard in guards for text in (guard.value_sql, guard.failure_sql or "false")]
    for start in range(0, len(texts), 40):
        some = texts[start : start + 40]
        with ansi(spark, True):
            with_ansi = evaluated(rows, some)
        with ansi(spark, False):
            without = evaluated(rows, some)
        for text, one, other in zip(some, with_ansi, without, strict=True):
            assert one == other, text


def test_what_cannot_fail_does_not(spark: SparkSession, rows: DataFrame) -> None:
    with ansi(spark, True):
        for start in range(0, len(CANNOT_FAIL), 40):
            some = [Expression.parse(text) for text in CANNOT_FAIL[start : start + 40]]
            values = evaluated(rows, [expression.value_sql for expression in some])
            for expression, value, plain in zip(some, values, evaluated(rows, [e.text for e in some]), strict=True):
                assert value == plain, expression.text


@pytest.mark.parametrize("text", MAY_FAIL)
def test_it_fails_where_spark_raises(spark: SparkSession, rows: DataFrame, text: str) -> None:
    expression = Expression.parse(text)
    with ansi(spark, True):
        value, failure = evaluated(rows, [expression.value_sql, expression.failure_sql or ""])
        assert set(failure.values()) <= {"true", "false"}, "a failure is never null"
        fine = [number for number, fails in failure.items() if fails == "false"]
        plain = evaluated(rows.where(f"id in (-1, {', '.join(map(str, fine)) or '-1'})"), [expression.text])
        assert plain == [{number: value[number] for number in fine}]
        for number in failure.keys() - fine:
            name = list(ROWS)[number]
            assert value[number] is None, name
            assert number in HAS_NULLS or raises(rows.where(f"id = {number}"), expression.text), name


def test_many_of_the_expressions_fail_on_some_row_and_none_on_all(rows: DataFrame) -> None:
    """Without this, no failure foretold and no row that raises would look the same as a contract that holds."""
    found = evaluated(rows, [Expression.parse(text).failure_sql or "false" for text in MAY_FAIL])
    assert sum("true" in by_row.values() for by_row in found) > 70
    assert all("false" in by_row.values() for by_row in found)


def test_a_decimal_of_38_digits_is_negated_exactly(spark: SparkSession) -> None:
    """Spark's own `-n` and `abs(n)` round to 34 digits, and raise where the rounded number does not fit."""
    digits = "9" * 36 + ".99"
    frame = spark.sql(f"select 0 as id, cast('{digits}' as decimal(38,2)) as n, -1.5bd as m").localCheckpoint()
    assert raises(frame, "-n")
    texts = [Expression.parse(text).value_sql for text in ("-n", "abs(-n)", "abs(n)", "-m", "abs(m)")]
    assert [by_row[0] for by_row in evaluated(frame, texts)] == [f"-{digits}", digits, digits, "1.5", "1.5"]


@pytest.mark.parametrize("time", ["12:30", "7:00:00"])
def test_a_time_of_day_is_no_timestamp(spark: SparkSession, time: str) -> None:
    """Spark would give it the date of the day on which it runs."""
    frame = spark.sql(f"select 0 as id, {text_literal(time).sql} as s").localCheckpoint()
    plain = evaluated(frame, ["try_cast(s as timestamp)"])[0][0]
    assert plain is not None and not plain.startswith("1970")
    for text in ("cast(s as timestamp)", "to_timestamp(s)"):
        expression = Expression.parse(text)
        assert evaluated(frame, [expression.value_sql, expression.failure_sql or ""]) == [{0: None}, {0: "true"}]


STRINGS = ["", "'", '"', "\\", "\\\\'", "%_\\%", "a\nb\tc\rd", "\x00\x01\x1a\x7f", "é ☃ 🎈 \u2028", "${env:HOME}", "$",
           "--", "/*", ";", "`", "\\u0041", "null"]  # fmt: skip


def test_texts_reach_spark_unchanged(spark: SparkSession) -> None:
    row = spark.range(1).selectExpr(*(text_literal(text).sql for text in STRINGS)).first()
    assert row is not None and list(row) == STRINGS


WRITTEN = {
    "'O''Hare'": "O'Hare",
    '"a ""b"" \'c\'"': "a \"b\" 'c'",
    r"'\t\n\r\b\0\\\'\"'": "\t\n\r\b\0\\'\"",
    r"'\u00e9\U0001F388'": "é🎈",
    r"'50\% a\_b'": r"50\% a\_b",
    "'\"'": '"',
    "\"''\"": "''",
}


@pytest.mark.parametrize("text", WRITTEN)
def test_escapes_are_read_as_spark_reads_them(spark: SparkSession, text: str) -> None:
    row = spark.range(1).selectExpr(text, Expression.parse(text).text).first()
    assert row is not None and tuple(row) == (WRITTEN[text], WRITTEN[text])


REGEXES = [r"^[A-Z]{2}(-\\d+)?$", "[?&]id=", r"(?i)\\bab+?c\\b", r"a|b|(c|d)?", r"[^\\s,;-]+", r"\\.\\*\\[\\]\\{\\}",
           "x{2,}", "x{0,3}?", ".*?y", "[a-z0-9_.]+@[a-z]+", "^$", "#", "=!<>:"]  # fmt: skip


def test_java_reads_the_patterns_that_are_taken(rows: DataFrame) -> None:
    evaluated(rows, [Expression.parse(f"u rlike '{pattern}'").value_sql for pattern in REGEXES])


FORMATS = ["yyyy-MM-dd", "dd/MM/yy", "d.M.yyyy H:m:s", "yyyyMMdd", r"yyyy-MM-dd\'T\'HH:mm:ss.SSSXXX", "MMM d, yyyy",
           "MMMM yyyy", "hh:mm a", "yyyy-MM-dd HH:mm:ssZ", "HH:mm:ss.SSSSSSSSS"]  # fmt: skip


def test_java_reads_the_formats_that_are_taken(spark: SparkSession, rows: DataFrame) -> None:
    read = [Expression.parse(f"to_timestamp(u, '{pattern}')").value_sql for pattern in FORMATS]
    written = [Expression.parse(f"date_format(ts, '{pattern}')").value_sql for pattern in [*FORMATS, "EEEE DDD", "y"]]
    with ansi(spark, True):
        evaluated(rows, [*read, *written])


ALSO = [
    *[f"date_trunc('{unit}', ts)" for unit in ("year", "quarter", "MONTH", "day", "hour", "minute", "second")],
    *["date_trunc('millisecond', ts)", "last_day(day)", "weekofyear(day)", "date_diff(day, cast(ts as date))"],
    *["replace(u, '-', '/')", "replace(u, '', 'x')", "replace(u, ',')", "btrim(u, '24')", "instr(u, '')"],
    *["lpad(u, 12, 'ab')", "rpad(u, 12, 'ab')", "lpad(u, 3, 'ab')", "rpad(u, 0, 'ab')"],
    *["date_add(day, -3)", "date_sub(day, i % 100)", "cast(replace(u, ',', '.') as double)", "right(u, 3)"],
]  # fmt: skip
"""More of what plain Python knows."""


def test_what_plain_python_evaluates_is_what_spark_gives(spark: SparkSession, rows: DataFrame) -> None:
    """Or it says that it does not know. It is so of many: an evaluator that knows nothing would pass otherwise."""
    types = Evaluator(COLUMNS)
    known: list[tuple[Expression, str]] = []
    for text in [*EVERYTHING, *ALSO]:
        expression = Expression.parse(text)
        with suppress(NotEvaluated):
            known.append((expression, types.kind_of(expression)))
    times = [f"unix_micros({name}) as {name}" if kind == "timestamp" else name for name, kind in COLUMNS.items()]
    compared = 0
    with ansi(spark, False):
        here = [row.asDict() for row in rows.selectExpr("id", *times).collect()]
        for start in range(0, len(known), 40):
            some = known[start : start + 40]
            values = [f"{AS_NUMBER.get(kind, '')}({e.value_sql})" for e, kind in some]
            failures = [e.failure_sql or "false" for e, _ in some]
            texts = [f"{text} as c{place}" for place, text in enumerate([*values, *failures])]
            found = {row["id"]: row for row in rows.selectExpr("id", *texts).collect()}
            for place, (expression, _) in enumerate(some):
                for row in here:
                    in_spark, fails = (found[row["id"]][f"c{n}"] for n in (place, place + len(some)))
                    try:
                        value = types.evaluate(expression, row)
                    except NotEvaluated:
                        continue
                    except Failed:
                        assert fails, (expression.text, row)
                        continue
                    compared += 1
                    assert same(value, in_spark) and not fails, (expression.text, row, value, in_spark)
    assert compared > 900


AS_NUMBER = {"timestamp": "unix_micros", "date": "unix_date"}
"""Not all of Spark's dates are Python's."""


def same(one: object, other: object) -> bool:
    if isinstance(one, date):
        return (one - date(1970, 1, 1)).days == other
    if isinstance(one, float) and isinstance(other, float):
        return (one != one and other != other) or math.isclose(one, other, rel_tol=1e-15)
    return one == other and type(one) is type(other)
