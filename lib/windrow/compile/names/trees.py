"""Pieces of SQL as sqlglot's trees: no text of a user is ever put into SQL, only names and literals made of it."""

from __future__ import annotations

from collections.abc import Iterable

from sqlglot import exp

TICK = "tick"


def identifier(name: str) -> exp.Identifier:
    """A name, always quoted: a key may be called `order`."""
    return exp.to_identifier(name, quoted=True)


def column(name: str, of: str | None = None) -> exp.Column:
    """A column, or that of a relation of this name."""
    return exp.Column(this=identifier(name), table=None if of is None else identifier(of))


def columns(names: Iterable[str], of: str | None = None) -> list[exp.Column]:
    """Several columns."""
    return [column(name, of) for name in names]


def table(name: str) -> exp.Table:
    """A table or view of the pipeline by its name, which `dialects` puts into a schema."""
    return exp.Table(this=identifier(name))


def named(expression: exp.Expr, name: str) -> exp.Alias:
    """An expression as a column of that name."""
    return exp.Alias(this=expression, alias=identifier(name))


def text(value: str) -> exp.Literal:
    """A literal of text."""
    return exp.Literal.string(value)


def number(value: int) -> exp.Condition:
    """A literal of a whole number."""
    return exp.Literal.number(value)


def instant(value: str) -> exp.Expression:
    """A literal of a time in UTC, `1900-01-01 00:00:00`, as an instant."""
    return exp.Cast(this=text(f"{value}+00:00"), to=exp.DataType.build("timestamptz"))


def over(function: exp.Expression, partition: Iterable[str], order: Iterable[str] = ()) -> exp.Window:
    """A window function over the rows that have the same values in some columns, in the order of others."""
    ordered = [exp.Ordered(this=column(name), desc=False, nulls_first=True) for name in order]
    return exp.Window(
        this=function,
        partition_by=columns(partition),
        order=exp.Order(expressions=ordered) if ordered else None,
    )


def any_of(conditions: Iterable[exp.Expr]) -> exp.Condition:
    """That one of several conditions holds."""
    return exp.or_(*conditions)


COMBINING: dict[str, type[exp.AggFunc]] = {
    "sum": exp.Sum, "min": exp.Min, "max": exp.Max, "bool_or": exp.LogicalOr, "bool_and": exp.LogicalAnd,
}  # fmt: skip
"""The aggregates that combine results (`windrow.spec.aggregates.Aggregate.COMBINED_BY`)."""
