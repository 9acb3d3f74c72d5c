"""Expressions of users: what is taken and as which text, what is refused, and where a row fails."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from windrow.spec.errors import SpecError
from windrow.spec.expressions import Expression
from windrow.spec.expressions.attempts import OPERATORS
from windrow.spec.expressions.constants import text_literal
from windrow.spec.expressions.functions import FUNCTIONS
from windrow.spec.expressions.tree import Literal

ACCEPTED = {
    # operators, and parentheses only where they are needed
    "dep_delay > 15": "`dep_delay` > 15",
    "a+b*c - d": "`a` + `b` * `c` - `d`",
    "(a+b)*c": "(`a` + `b`) * `c`",
    "a - (b - c)": "`a` - (`b` - `c`)",
    "((a))": "`a`",
    "a DIV b % 2": "`a` div `b` % 2",
    "-a * -1": "-`a` * -1",
    "-(a + b)": "-(`a` + `b`)",
    "a - -1": "`a` - -1",
    "~a & b": "~`a` & `b`",
    "(a | b) & c": "(`a` | `b`) & `c`",
    "(a || b) + c": "(`a` || `b`) + `c`",
    "a == 1 or b != 2 AND NOT c": "`a` = 1 or `b` <> 2 and not `c`",
    "(a or b) and !c": "(`a` or `b`) and not `c`",
    "(a = b) = c": "(`a` = `b`) = `c`",
    "a <=> null": "`a` <=> null",
    "a Is Not Null": "`a` is not null",
    "not (a is null)": "`a` is not null",
    "(a > 1) is not true": "(`a` > 1) is not true",
    "not a in (1, 2, 3)": "`a` not in (1, 2, 3)",
    "a not in ('x', b)": "`a` not in ('x', `b`)",
    "not a not in (1)": "not `a` not in (1)",
    "a between 1 and b + 1 and c": "`a` between 1 and `b` + 1 and `c`",
    "a not between 1 and 2": "`a` not between 1 and 2",
    r"a like 'x\\_%' or a not ilike '%y'": r"`a` like 'x\\_%' or `a` not ilike '%y'",
    r"a rlike '^[A-Z]{2}(-\\d+)?$'": r"`a` rlike '^[A-Z]{2}(-\\d+)?$'",
    "a regexp '[?&]id='": "`a` rlike '[?&]id='",
    # names and constants
    "Carrier": "`Carrier`",
    "`end` + `a``b c`": "`end` + `a``b c`",
    "`größe`": "`größe`",
    "a.b": "`a`.`b`",
    "a.`b c`.d.e.f": "`a`.`b c`.`d`.`e`.`f`",
    "user = 'x'": "`user` = 'x'",
    "date + `interval`": "`date` + `interval`",
    "True and NULL": "true and null",
    "1.50 + .5": "1.50 + 0.5",
    "1e3": "1E3",
    "-9223372036854775808": "-9223372036854775808",
    "'O''Hare'": r"'O\'Hare'",
    '"a ""b"" \'c\'"': r"""'a "b" \'c\''""",
    r"'tab\t line\n back\\slash quote\' \u00e9 \0'": r"'tab\t line\n back\\slash quote\' é \u0000'",
    "'ünï ☃ 🎈'": "'ünï ☃ 🎈'",
    r"'\u0024{HOME}'": r"'\u0024{HOME}'",
    "'$5 -- /* ; */ ? :a @b'": "'$5 -- /* ; */ ? :a @b'",
    "date'2024-02-29'": "date '2024-02-29'",
    "TIMESTAMP '2024-01-31 10:00:00.5+01:00'": "timestamp '2024-01-31 10:00:00.5+01:00'",
    "a + INTERVAL '3' HOURS": "`a` + interval 3 hour",
    "a - interval -2 days": "`a` - interval -2 day",
    # casts
    "cast(a as integer)": "cast(`a` as int)",
    "a::long::string": "cast(cast(`a` as bigint) as string)",
    "cast(a AS numeric)": "cast(`a` as decimal(10, 0))",
    "cast(a as dec(12,2))": "cast(`a` as decimal(12, 2))",
    "(-1)::tinyint": "cast(-1 as tinyint)",
    "-a::int": "-cast(`a` as int)",
    "a - 1::int": "`a` - cast(1 as int)",
    "TRY_CAST(a as timestamp)": "try_cast(`a` as timestamp)",
    # conditions
    "CASE WHEN a THEN 1 END": "case when `a` then 1 end",
    "case a when 1 then 'x' when 2 then 'y' else b end": "case `a` when 1 then 'x' when 2 then 'y' else `b` end",
    "If(a > b, a, b)": "if(`a` > `b`, `a`, `b`)",
    "nvl(a, coalesce(b, 0))": "nvl(`a`, coalesce(`b`, 0))",
    # functions keep the name that the user knows
    "SUBSTR(a, 1, 3) || upper(b)": "substr(`a`, 1, 3) || upper(`b`)",
    "left(a, 2) = right(b, 2)": "left(`a`, 2) = right(`b`, 2)",
    "date_trunc('HOUR', ts)": "date_trunc('HOUR', `ts`)",
    "to_timestamp(s, \"yyyy-MM-dd'T'HH:mm:ss.SSSXXX\")": r"to_timestamp(`s`, 'yyyy-MM-dd\'T\'HH:mm:ss.SSSXXX')",
    "datediff(a, b) > 3": "datediff(`a`, `b`) > 3",
    "mod(a, 2) + a % 2": "mod(`a`, 2) + `a` % 2",
    "get_json_object(a, '$.b.c')": "get_json_object(`a`, '$.b.c')",
    # arrays, maps, structs
    "a[0]": "`a`[0]",
    "a[i + 1]['k'].b": "`a`[`i` + 1]['k'].`b`",
    "split(a, ',')[0]": "split(`a`, ',')[0]",
    "array_contains(array('x', 'y'), a)": "array_contains(array('x', 'y'), `a`)",
    "named_struct('x', a, 'y', b).x": "named_struct('x', `a`, 'y', `b`).`x`",
}


@pytest.mark.parametrize("text", ACCEPTED)
def test_an_expression_is_written_from_its_tree(text: str) -> None:
    assert Expression.parse(text).text == ACCEPTED[text]


@pytest.mark.parametrize("text", ACCEPTED)
def test_its_text_says_the_same_again(text: str) -> None:
    expression = Expression.parse(text)
    again = Expression.parse(expression.text)
    assert again == expression
    assert (again.tree, again.columns) == (expression.tree, expression.columns)


def test_equal_by_text_not_by_what_was_written() -> None:
    assert Expression.parse("a+1") == Expression.parse(" ( `a` + 1 ) ")
    assert len({Expression.parse("a+1"), Expression.parse("a  + 1")}) == 1
    assert Expression.parse("a") != Expression.parse("A")


def test_columns_are_in_order_of_appearance_without_repeats() -> None:
    expression = Expression.parse("case when b.x > 0 then A[c] else a + D end in (b.y, 'e', upper(f))")
    assert expression.columns == ("b", "A", "c", "D", "f")


def test_renaming_reaches_every_column_and_only_columns() -> None:
    expression = Expression.parse("a.b + B / case when `c d` then a else 'a' end")
    renamed = expression.rename({"a": "left.a", "b": "B`2"})
    assert renamed.text == "`left.a`.`b` + `B``2` / case when `c d` then `left.a` else 'a' end"
    assert renamed.columns == ("left.a", "B`2", "c d")
    assert renamed.failure_sql is not None and "`left.a`.`b`" in renamed.failure_sql


REFUSED = {
    "code": ["reflect('java.lang.Runtime', 'getRuntime')", "java_method('java.util.UUID', 'randomUUID')",
             "try_reflect('a', 'b')", "REFLECT(a)", "`reflect`('a', 'b')", "py_udf(a)", "transform_keys(a, b)"],
    "queries": ["(select 1)", "select 1", "a in (select b from c)", "a = (select max(b) from c)",
                "exists (select 1 from c)", "case when (select true) then 1 end", "array(select 1)",
                "coalesce(a, (select 1))", "a in (with t as (select 1) select * from t)", "table(t)", "range(10)",
                "(values (1))", "(from t)", "a in (table t)"],
    "window functions": ["row_number() over (order by a)", "lag(a)", "upper(a) over (partition by b)",
                         "upper(a) over w", "window(a, '1 hour')"],
    "aggregates": ["count(*)", "sum(a)", "sum(distinct a)", "count(a) filter (where b)", "max(a)", "any(a)",
                   "collect_list(a)", "upper(distinct a)", "upper(all a)"],
    "generators": ["explode(array(1))", "posexplode(a)", "stack(2, a, b)", "inline(a)", "json_tuple(a, 'b')"],
    "functions of the user's own": ["transform(a, x -> x + 1)", "exists(a, x -> x > 1)", "filter(a, x -> true)",
                                    "aggregate(a, 0, (x, y) -> x + y)", "a -> b", "upper(x -> x)"],
    "what differs from run to run": ["rand()", "randn(1)", "uuid()", "now()", "current_timestamp()",
                                     "current_timestamp", "CURRENT_DATE", "`current_date`", "localtimestamp",
                                     "unix_timestamp()", "shuffle(a)", "monotonically_increasing_id()",
                                     "timestamp 'now'", "date 'today'", "cast('now' as timestamp)", "a > 'TODAY'",
                                     "a > ' tomorrow UTC'", "concat('n', 'ow')", "'n' || 'ow'", "reverse('won')",
                                     "date_format(timestamp '2024-01-01', \"'now'\")", r"a > '\u006eow'"],
    "the session and the machine": ["current_user", "`current_user`", "CURRENT_USER()", "session_user", "user()",
                                    "current_database()", "current_catalog", "version()", "input_file_name()",
                                    "_metadata.file_path", "spark_partition_id()", "current_timezone()",
                                    "grouping__id", "getvariable('a')"],
    "other systems": ["read_files('/etc')", "ai_query('m', a)", "http_request('http://x')", "secret('a', 'b')",
                      "try_secret('a', 'b')", "remote_query(a)", "vector_search(a)", "from_avro(a, b)"],
    "what raises": ["raise_error('x')", "assert_true(a)", "make_date(a, b, c)", "to_number(a, '9')", "conv(a, 10, 2)",
                    "next_day(a, 'MO')", "bit_get(a, 99)", "sequence(a, b)", "map(a, b)", "from_json(a, 'b int')"],
    "statements": ["a; drop table t", "drop table t", ";", "a;", "set spark.x = 1", "add jar x", "call p()", "use db",
                   "create table t (a int)", "explain a"],
    "comments and hints": ["a -- b", "--", "a /* b */ + 1", "/*+ broadcast(t) */ a", "a --\n + 1", "a--1",
                           "upper(/* sqlglot.anonymous */ a)", "a # b", "{# a #} b"],
    "parameters": ["${env:HOME}", "'${env:HOME}' = a", "`${system:user.name}`", ":param", "a = :p", "?", "a = ?", "@v",
                   "@@version", "a = $1", "{{ a }}", "IDENTIFIER('a')", "identifier('a')(b)", "a => 1",
                   "upper(x => a)"],
    "stars, tuples, aliases": ["*", "a.*", "named_struct('a', 1).*", "(a, b)", "(a, b) in ((1, 2))", "()", "[1, 2]",
                               "a as b", "a b", "a, b", "array(a as b)", "{a: 1}"],
    "prefixes of functions": ["builtin.upper(a)", "system.builtin.upper(a)", "a.upper(b)", "upper(a)(b)", "a.b.c(d)"],
    "foreign operators": ["a << 2", "a >> 2", "a:b", "a['x':'y']", "a[1, 2]", "a[0:1]", "a -> 'b'", "a ->> 'b'",
                          "a ?? b", "a at time zone 'UTC'", "a collate utf8_binary", "a is distinct from b", "a ** 2",
                          "+a", "a ilike any ('x')", "a like 'x' escape '!'", "a similar to 'x'", "a && b",
                          "a = any(b)", "div(a, b)", "and(a, b)", "in(a, b)"],
    "foreign constants": ["1L", "1S", "1.5BD", "2.0f", "0x1F", "x'41'", "r'a'", "1.", "1_000", "1e999", "e'a'", "N'a'",
                          "9" * 39, "interval 1 day 2 hours", "interval 1 fortnight", "interval",
                          "interval - a", "interval 1.5 day", "interval '1-2' year to month",
                          "date '2024-13-01'", "date '24-1-1'", "timestamp '2024-01-31T25:00:00'",
                          "timestamp_ntz '2024-01-01'", "time '10:00:00'", r"'\d'", r"'\x41'", r"'\101'", r"'\012'",
                          r"'\ud800'", r"'\U00110000'", "'a' 'b'", "'a\\'"],
    "types": ["cast(a as interval)", "cast(a as array<int>)", "a::variant", "cast(a as varchar(3))", "cast(a as b)",
              "cast(a as struct<x: int>)", "cast(a as decimal(39, 2))", "cast(a as decimal(2, 5))", "cast(a)", "a::",
              "cast(a as int array)", "cast(a as timestamp_ntz)", "try_cast(a as binary)", "cast(a as void)"],
    "patterns that could fail": ["a like b", "a like 'x\\\\y'", r"a like 'x\\'", "a rlike b", "a rlike '['",
                                 "a rlike '(a+)+'", "a rlike '(a|b)*'", "a rlike '(?=x)'", r"a rlike '\\p{L}'",
                                 "a rlike 'a{'", "a rlike '*'", "split(a, '(')", "split(a, b)",
                                 "regexp_extract(a, 'x')", "regexp_extract(a, '(x)', 2)", "regexp_extract(a, '(x)', b)",
                                 "regexp_replace(a, 'x', '$1')", "regexp_replace(a, 'x', b)",
                                 r"regexp_replace(a, 'x', '\\')", "to_date(a, 'YYYY')", "to_date(a, b)",
                                 "to_timestamp(a, 'HH:mm''')", "date_format(a, 'qqqqq')", "date_format(a, b)"],
    "arguments that could fail": ["split_part(a, ',', 0)", "split_part(a, ',', b)", "element_at(a, 0)",
                                  "element_at(a, b)", "lpad(a, 100000000, 'x')", "rpad(a, b, 'x')", "repeat(a, 9)",
                                  "round(a, -1)", "round(a, b)", "date_trunc(a, b)", "date_trunc('fortnight', a)",
                                  "trunc(a, 'day')", "sha2(a, b)", "named_struct('a', 1, 'A', 2)", "named_struct(a, 1)",
                                  "named_struct('a')", "hash()", "if(a, b)", "upper()", "upper(a, b)", "pi(a)"],
    "letters that look like others": ["upper(\uff41)", "a\u00a0+ 1", "a\u2003= 1", "\u0430 + 1", "a \uff1d 1",
                                      "\u2018a\u2019 = b", "a\u200b", "\ufeffa",
                                      "a\x00", "a \x0b b", "select\u2028 1", "`a\nb`", "`a\x00`", "``"],
    "what does not end": ["'a", "`a", '"a', "upper(a", "a)", "a[0", "case when a then b", "a and", "not", "a +", "a.",
                          "a is", "a in", "a in ()", "a in b", "a between 1", "case end", "case a end",
                          "case when a b end", "", "   ", "\n"],
}  # fmt: skip


@pytest.mark.parametrize(("kind", "text"), [(kind, text) for kind, texts in REFUSED.items() for text in texts])
def test_is_refused(kind: str, text: str) -> None:
    with pytest.raises(SpecError) as refused:
        Expression.parse(text)
    assert refused.value.got == text
    assert refused.value.place == ""


AMBIGUOUS = [
    "a = b = c", "a = b < c", "a < b = c", "a | b & c", "a & b ^ c", "a || b + c", "a + b || c", "a = b is null",
    "a is not null = b", "a = not b", "a in (1) = b", "a = b in (1)", "a between b and c = d", "-1::tinyint",
    "- -a", "- not a", "a is null is null", "a like 'x' = b", "a + not b", "a between b and not c",
]  # fmt: skip


@pytest.mark.parametrize("text", AMBIGUOUS)
def test_where_spark_and_sqlglot_would_differ_it_wants_parentheses(text: str) -> None:
    with pytest.raises(SpecError, match=r"parentheses|breaks at"):
        Expression.parse(text)


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("coalesc(a, 0)", "coalesce"),
        ("lenght(a)", "length"),
        ("date_tunc('day', a)", "date_trunc"),
        ("sum(a)", "aggregates"),
        ("now()", "replay"),
        ("date(a)", "cast(a as date)"),
        ("rlike(a, 'x')", "a rlike 'pattern'"),
        ("1L", "cast(1 as bigint)"),
        ("a << 2", "shiftleft"),
        ("a > 'now'", "from the clock"),
        ("${lake}", "paths"),
        (r"a rlike '\d'", r"\\d"),
        ("end = 1", "`end`"),
        ("a = b = c", "(a = b) = c"),
    ],
)
def test_the_hint_says_how_to_fix_it(text: str, hint: str) -> None:
    with pytest.raises(SpecError) as refused:
        Expression.parse(text)
    assert hint in (refused.value.hint or "")


TOO_LARGE = {
    "long": "a" * 10_001,
    "long with its backticks": "+".join("a" * 5_000),
    "parentheses": "(" * 4_000 + "a" + ")" * 4_000,
    "parentheses that do not end": "(" * 5_000,
    "calls": "upper(" * 1_000 + "a" + ")" * 1_000,
    "cases": "case when a then " * 500 + "a" + " end" * 500,
    "nots": "not " * 2_000 + "a",
    "signs": "- " * 2_000 + "a",
    "sums": "+".join(["a"] * 1_000),
    "ors": " or ".join(["a"] * 1_000),
    "casts": "a" + "::int" * 1_500,
    "elements": "a" + "[0]" * 2_000,
    "fields": "upper(a)" + ".b" * 3_000,
    "quotients of quotients": "a div (" * 20 + "b" + ")" * 20,
}


@pytest.mark.parametrize("name", TOO_LARGE)
def test_what_is_too_large_is_refused_at_once(name: str) -> None:
    with pytest.raises(SpecError, match=r"nested|characters|too large|must not call"):
        Expression.parse(TOO_LARGE[name])


def test_no_recursion_error_escapes_from_a_deep_caller() -> None:
    def call(depth: int) -> None:
        if depth:
            call(depth - 1)
        else:
            Expression.parse("(" * 29 + "a" + ")" * 29)

    with pytest.raises(SpecError, match="nested"):
        call(700)


GUARDED = {
    "a": ("`a`", None),
    "a > 1 and b like 'x%'": ("`a` > 1 and `b` like 'x%'", None),
    "a + b": ("try_add(`a`, `b`)", "try_add(`a`, `b`) is null and `a` is not null and `b` is not null"),
    "a - 1": ("try_subtract(`a`, 1)", "try_subtract(`a`, 1) is null and `a` is not null"),
    "a * 2": ("try_multiply(`a`, 2)", "try_multiply(`a`, 2) is null and `a` is not null"),
    "a / b": ("try_divide(`a`, `b`)", "try_divide(`a`, `b`) is null and `a` is not null and `b` is not null"),
    "a % b": ("try_mod(`a`, `b`)", "try_mod(`a`, `b`) is null and `a` is not null and `b` is not null"),
    "a % 10 = 0": ("`a` % 10 = 0", None),
    "a div 2": ("`a` div 2", None),
    "-a": ("try_subtract(0Y, `a`)", "try_subtract(0Y, `a`) is null and `a` is not null"),
    "cast(a as int)": ("try_cast(`a` as int)", "try_cast(`a` as int) is null and `a` is not null"),
    "cast(a as string)": ("cast(`a` as string)", None),
    "try_cast(a as int)": ("try_cast(`a` as int)", None),
    "try_divide(a, b)": ("try_divide(`a`, `b`)", None),
    "to_date(a)": ("try_cast(`a` as date)", "try_cast(`a` as date) is null and `a` is not null"),
    "a[1]": ("get(`a`, 1)", "`a` is not null and 1 not between 0 and array_size(`a`) - 1"),
    "a['k']": ("`a`['k']", None),
    "element_at(a, -2)": (
        "try_element_at(`a`, -2)",
        "coalesce(array_size(`a`) < 2, false)",
    ),
    "size(a)": ("nullif(size(`a`), -1)", None),
    "ts + interval 1 day": (
        "try_add(`ts`, interval 1 day)",
        "try_add(`ts`, interval 1 day) is null and `ts` is not null",
    ),
    "timestamp_millis(a)": (
        "timestamp_micros(try_multiply(`a`, 1000L))",
        "timestamp_micros(try_multiply(`a`, 1000L)) is null and `a` is not null",
    ),
    # an argument that fails, fails the whole
    "upper(cast(a as int))": ("upper(try_cast(`a` as int))", "try_cast(`a` as int) is null and `a` is not null"),
    # but for branches that are not reached
    "b <> 0 and a::int > 1": (
        "if(coalesce(`b` <> 0, true) and (try_cast(`a` as int) is null and `a` is not null), null,"
        " `b` <> 0 and try_cast(`a` as int) > 1)",
        "coalesce(`b` <> 0, true) and (try_cast(`a` as int) is null and `a` is not null)",
    ),
    "b = 0 or a::int > 1": (
        "if(not coalesce(`b` = 0, false) and (try_cast(`a` as int) is null and `a` is not null), null,"
        " `b` = 0 or try_cast(`a` as int) > 1)",
        "not coalesce(`b` = 0, false) and (try_cast(`a` as int) is null and `a` is not null)",
    ),
    "case when b then a::int else 0 end": (
        "case when `b` then try_cast(`a` as int) else 0 end",
        "case when `b` then try_cast(`a` as int) is null and `a` is not null else false end",
    ),
    "case when a::int = 1 then b end": (
        "if(case when try_cast(`a` as int) is null and `a` is not null then true"
        " when try_cast(`a` as int) = 1 then false else false end, null,"
        " case when try_cast(`a` as int) = 1 then `b` end)",
        "case when try_cast(`a` as int) is null and `a` is not null then true"
        " when try_cast(`a` as int) = 1 then false else false end",
    ),
    "case b when 1 then a::int end": (
        "case `b` when 1 then try_cast(`a` as int) end",
        "case when `b` = 1 then try_cast(`a` as int) is null and `a` is not null else false end",
    ),
    "if(b, 1, a::int)": (
        "if(`b`, 1, try_cast(`a` as int))",
        "case when `b` then false else try_cast(`a` as int) is null and `a` is not null end",
    ),
    "coalesce(b, a::int, 0)": (
        "if(`b` is null and (try_cast(`a` as int) is null and `a` is not null), null,"
        " coalesce(`b`, try_cast(`a` as int), 0))",
        "`b` is null and (try_cast(`a` as int) is null and `a` is not null)",
    ),
    "coalesce(b, a::int)": (
        "coalesce(`b`, try_cast(`a` as int))",
        "`b` is null and (try_cast(`a` as int) is null and `a` is not null)",
    ),
    "round(a::int) is null": (
        "if(try_cast(`a` as int) is null and `a` is not null, null, round(try_cast(`a` as int)) is null)",
        "try_cast(`a` as int) is null and `a` is not null",
    ),
    "nvl2(b, a::int, 0)": (
        "nvl2(`b`, try_cast(`a` as int), 0)",
        "case when `b` is not null then try_cast(`a` as int) is null and `a` is not null else false end",
    ),
}


@pytest.mark.parametrize("text", GUARDED)
def test_value_and_failure(text: str) -> None:
    expression = Expression.parse(text)
    assert (expression.value_sql, expression.failure_sql) == GUARDED[text]


def test_a_cast_to_timestamp_does_not_take_the_date_of_today() -> None:
    value = Expression.parse("cast(a as timestamp)").value_sql
    assert value == (
        r"if(cast(`a` as string) rlike '^[\\x00-\\x20]*[-+]?(T|[0-9]+:)', null, try_cast(`a` as timestamp))"
    )
    assert Expression.parse("to_timestamp(a)").value_sql == value


def test_what_can_fail_never_stands_bare_in_its_guarded_forms() -> None:
    sample = Expression.parse("case when a + b > c * d then e / f - g::int else h[i] end")
    for text in (sample.value_sql, sample.failure_sql or ""):
        assert not any(f" {operator} " in text.replace("array_size(`h`) - 1", "") for operator in OPERATORS)
        assert " cast(" not in text


def test_a_long_chain_stays_small() -> None:
    def size(terms: int) -> int:
        return len(Expression.parse(" + ".join("a" * terms)).failure_sql or "")

    assert size(26) < 20_000
    assert size(52) < 4.5 * size(26)  # quadratic, not more


def test_every_function_says_whether_it_can_fail() -> None:
    can_fail = {name for name, function in FUNCTIONS.items() if function.attempt is not None}
    assert can_fail == {
        "abs", "negative", "mod", "pmod", "url_decode", "to_date", "to_timestamp", "try_to_timestamp",
        "timestamp_seconds", "timestamp_millis", "size", "cardinality", "element_at",
    }  # fmt: skip


NAMES = st.sampled_from(["a", "B", "`c d`", "s.x", "`select`", "user"])
CONSTANTS = st.sampled_from(["1", "-2", "1.5", "1e3", "'x''y'", "null", "true", "date '2024-01-01'", "interval 1 day"])
INFIX = st.sampled_from(["+", "-", "*", "/", "%", "div", "=", "<>", "<", ">=", "<=>", "and", "or", "||", "&", "|", "^"])


def larger(parts: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    group = parts.map("({})".format)
    return st.one_of(
        st.builds("{} {} {}".format, parts, INFIX, parts),
        st.builds("{} {} {}".format, group, INFIX, group),
        st.builds("{} {}".format, st.sampled_from(["not", "-", "~", "!"]), parts),
        st.builds("{} {}".format, parts, st.sampled_from(["is null", "is not true", "like 'x%'", "not in (1, 2)"])),
        st.builds("{} between {} and {}".format, parts, parts, parts),
        st.builds("case when {} then {} else {} end".format, parts, parts, parts),
        st.builds("coalesce({}, {})".format, parts, parts),
        st.builds("{}[{}]".format, group, parts),
        st.builds("{}::{}".format, parts, st.sampled_from(["int", "string", "decimal(10,2)"])),
    )


@settings(max_examples=300)
@given(st.recursive(st.one_of(NAMES, CONSTANTS), larger, max_leaves=8))
def test_whatever_is_taken_is_read_again_as_the_same_tree(text: str) -> None:
    try:
        expression = Expression.parse(text)
    except SpecError:
        return
    assert Expression.parse(expression.text).tree == expression.tree


@settings(max_examples=300)
@given(st.text(st.sampled_from("ab1. ()[],'\"`\\+-*/%=<>!&|^~:;?@#${}\n\té\uff21"), max_size=40))
def test_no_text_gives_another_error_than_ours(text: str) -> None:
    try:
        expression = Expression.parse(text)
    except SpecError:
        return
    assert Expression.parse(expression.text) == expression


@settings(max_examples=300)
@example("NOW")
@example(" yesterday UTC\n")
@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=30))
def test_a_text_survives_its_quotes(value: str) -> None:
    literal = text_literal(value)
    assert "${" not in literal.sql
    try:
        tree = Expression.parse(f"a = {literal.sql}").tree.children[1]
    except SpecError as error:
        assert "from the clock" in str(error)
        assert value.split()[0].lower().startswith(("now", "today", "tomorrow", "yesterday"))
        return
    assert isinstance(tree, Literal)
    assert tree.value == value
