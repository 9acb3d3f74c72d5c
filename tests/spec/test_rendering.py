"""What is taken is written from its tree: no letter of the text comes through that was not read."""

from __future__ import annotations

import re
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.spec.attacks import ATTACKS
from tests.spec.test_expressions import ACCEPTED, CONSTANTS, GUARDED, NAMES, larger
from windrow.compile.sql.chain import Chain
from windrow.compile.sql.columns import Column
from windrow.spec.errors import SpecError
from windrow.spec.expressions import Expression
from windrow.spec.expressions.columns import walk
from windrow.spec.expressions.constants import text_literal
from windrow.spec.expressions.functions import FUNCTIONS
from windrow.spec.expressions.tree import Call, Cast, Field, Literal, Tree
from windrow.spec.expressions.tree import Column as ColumnTree

WORD = re.compile(
    r"""(?P<text>'(?:[^'\\]|\\.)*') | (?P<name>`(?:[^`]|``)*`) | (?P<number>[0-9][0-9.]*(?:E[+-]?[0-9]+)?(?:[LY]\b)?)
    | (?P<call>[a-z_][a-z0-9_]*)(?=\() | (?P<word>[a-z_]+) | (?P<sign>[-+*/%=<>|&^~!\[\]().,]) | (?P<space>[ ]+)""",
    re.VERBOSE | re.DOTALL,
)
KEYWORDS = [
    "and", "or", "not", "in", "is", "null", "true", "false", "between", "like", "ilike", "rlike", "case", "when",
    "then", "else", "end", "as", "div", "cast", "try_cast", "interval", "date", "timestamp", "year", "month",
    "week", "day", "hour", "minute", "second", "millisecond", "microsecond",
]  # fmt: skip
TYPES = [
    "boolean", "tinyint", "smallint", "int", "bigint", "float", "double", "decimal", "string", "date", "timestamp",
]  # fmt: skip
GUARDS = [
    "try_add", "try_subtract", "try_multiply", "try_divide", "try_mod", "try_to_timestamp", "try_url_decode",
    "try_element_at", "get", "if", "array_size", "coalesce", "nullif", "greatest", "size", "pmod",
    "timestamp_micros", "element_at",
]  # fmt: skip
GUARD_CONSTANTS = {"0", "1", "-1", "0Y", "1000L", "1000000L", r"'^[\\x00-\\x20]*[-+]?(T|[0-9]+:)'"}


def words(sql: str) -> Counter[tuple[str, str]]:
    """The lexemes of an SQL text; every letter of it belongs to one."""
    found: Counter[tuple[str, str]] = Counter()
    position = 0
    while position < len(sql):
        match = WORD.match(sql, position)
        assert match is not None and match.lastgroup is not None, f"{sql!r} at {sql[position:]!r}"
        if match.lastgroup != "space":
            found[match.lastgroup, match.group()] += 1
        position = match.end()
    return found


def constants_of(tree: Tree) -> set[str]:
    literals = {node.sql for node in walk(tree) if isinstance(node, Literal)}
    numbers = {str(abs(node.value)) for node in walk(tree) if isinstance(node, Literal) and isinstance(node.value, int)}
    inside = {word for sql in literals for (kind, word) in words(sql) if kind in ("text", "number")}
    types = {word for node in walk(tree) if isinstance(node, Cast) for word in re.findall(r"[0-9]+", node.type)}
    return literals | inside | numbers | types


def check_is_from_the_tree(expression: Expression) -> None:
    """Each name, constant, function and word of its texts is one of its tree, or one that the guards are made of."""
    tree = expression.tree
    columns = {name for node in walk(tree) if isinstance(node, ColumnTree) for name in node.path}
    names = columns | {node.name for node in walk(tree) if isinstance(node, Field)}
    calls = {node.name for node in walk(tree) if isinstance(node, Call)}
    assert calls <= set(FUNCTIONS)
    for sql in (expression.text, expression.value_sql, expression.failure_sql or "true"):
        for kind, word in words(sql):
            match kind:
                case "name":
                    assert word[1:-1].replace("``", "`") in names
                case "text" | "number":
                    assert word in constants_of(tree) | GUARD_CONSTANTS
                case "call":
                    assert word in [*calls, *GUARDS, *KEYWORDS, "decimal"]
                case "word":
                    assert word in [*KEYWORDS, *TYPES]


@pytest.mark.parametrize("text", {**ACCEPTED, **GUARDED})
def test_nothing_is_written_that_is_not_in_the_tree(text: str) -> None:
    check_is_from_the_tree(Expression.parse(text))


@settings(max_examples=200)
@given(st.recursive(st.one_of(NAMES, CONSTANTS), larger, max_leaves=8))
def test_nor_of_any_other_that_is_taken(text: str) -> None:
    try:
        expression = Expression.parse(text)
    except SpecError:
        return
    check_is_from_the_tree(expression)


TEXTS = st.one_of(st.sampled_from(sorted(ATTACKS.values())), st.text(max_size=30))


@settings(max_examples=200)
@given(TEXTS, TEXTS)
def test_an_attack_inside_of_quotes_stays_a_constant_or_a_name(constant: str, name: str) -> None:
    """Where it is taken there at all: a constant text and a column's name may say anything that they could say."""
    name = "`" + name.replace("`", "``") + "`"
    try:
        literal = text_literal(constant).sql
        expression = Expression.parse(f"coalesce({name}, {literal}) = cast(v as int)")
    except (SpecError, UnicodeError):
        return
    check_is_from_the_tree(expression)
    kinds = Counter(kind for kind, _ in words(expression.text).elements())
    assert (kinds["name"], kinds["text"]) == (2, 1)


@pytest.mark.parametrize("text", ["'{rows}'", "'{0}'", "'{'", "`{rows}`", "'{rows!r}'", "'{{rows}}'"])
def test_braces_of_a_user_are_not_those_of_the_relation(text: str) -> None:
    """The text of a tick goes through Python's `str.format`, which gives it back as it was."""
    expression = Expression.parse(f"k = {text}")
    chain = Chain.over(["k"]).with_columns({"x": Column(expression.value_sql)}).where(Column(expression.value_sql))
    assert chain.sql.format(rows="frame").count(expression.value_sql) == 2
    assert chain.sql.format(rows="frame").count("frame") == 1
