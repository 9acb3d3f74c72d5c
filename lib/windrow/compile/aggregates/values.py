"""Aggregates that are made of the values themselves: extremes, edges, lists and sets.

Rule: docs/semantics.md#aggregates.
"""

from __future__ import annotations

from windrow.compile.aggregates.parts import (
    Argument,
    CompiledAggregate,
    Part,
    Values,
    flattened,
    greatest,
    least,
    total,
)
from windrow.compile.aggregates.stamps import stamped
from windrow.compile.sql import columns as sql
from windrow.compile.sql.columns import Column, added, call, coalesce


def smallest(argument: Argument) -> CompiledAggregate:
    """The smallest value."""
    argument.require_ordered()
    return CompiledAggregate({"value": Part(least(argument.plain), least, sql.least)}, lambda of: of("value"))


def largest(argument: Argument) -> CompiledAggregate:
    """The largest value."""
    argument.require_ordered()
    return CompiledAggregate({"value": Part(greatest(argument.plain), greatest, sql.greatest)}, lambda of: of("value"))


def any_true(argument: Argument) -> CompiledAggregate:
    """Whether the condition is true on some element: the largest, as false is smaller than true."""
    if argument.weight is not None:
        return CompiledAggregate(
            _both(argument), lambda of: sql.case((of("true") > 0, True), (of("false") > 0, False), otherwise=None)
        )
    condition = argument.column.cast("boolean")
    return CompiledAggregate({"value": Part(greatest(condition), greatest, sql.greatest)}, lambda of: of("value"))


def all_true(argument: Argument) -> CompiledAggregate:
    """Whether the condition is true on every element on which it is not null."""
    if argument.weight is not None:
        return CompiledAggregate(
            _both(argument), lambda of: sql.case((of("false") > 0, False), (of("true") > 0, True), otherwise=None)
        )
    condition = argument.column.cast("boolean")
    return CompiledAggregate({"value": Part(least(condition), least, sql.least)}, lambda of: of("value"))


def _both(argument: Argument) -> dict[str, Part]:
    """How often the condition is true, and how often false."""
    condition = argument.column.cast("boolean")
    yes, no = argument.counted(condition), argument.counted(~condition)
    return {"true": Part(yes, total, added), "false": Part(no, total, added)}


def first(argument: Argument) -> CompiledAggregate:
    """The value at the smallest event time, at equal times the smaller one."""
    argument.require_ordered()
    part = Part(least(stamped(argument)), least, sql.least)
    return CompiledAggregate({"edge": part}, lambda of: of("edge").field("value"))


def last(argument: Argument) -> CompiledAggregate:
    """The value at the largest event time, at equal times the larger one."""
    argument.require_ordered()
    part = Part(greatest(stamped(argument)), greatest, sql.greatest)
    return CompiledAggregate({"edge": part}, lambda of: of("edge").field("value"))


def _different(argument: Argument) -> Part:
    argument.require_ordered()
    return Part(
        call("collect_set", argument.plain),
        lambda column: call("array_distinct", flattened(column)),
        lambda left, right: coalesce(call("array_union", left, right), left, right),
    )


def count_distinct(argument: Argument) -> CompiledAggregate:
    """The number of different values."""
    parts = {"values": _different(argument)}
    return CompiledAggregate(parts, lambda of: sql.greatest(call("size", of("values")), 0).cast("bigint"))


def collect_set(argument: Argument) -> CompiledAggregate:
    """The different values, sorted."""
    parts = {"values": _different(argument)}
    return CompiledAggregate(parts, lambda of: coalesce(call("sort_array", of("values")), sql.array()))


def collect(argument: Argument) -> CompiledAggregate:
    """All values, by event time, then by value."""
    argument.require_ordered()
    part = Part(
        call("collect_list", stamped(argument)),
        flattened,
        lambda left, right: coalesce(call("concat", left, right), left, right),
    )

    def extract(of: Values) -> Column:
        return coalesce(call("sort_array", of("list")).field("value"), sql.array())

    return CompiledAggregate({"list": part}, extract)


def top(argument: Argument, count: int) -> CompiledAggregate:
    """The largest values, the largest first; never more of them are kept."""
    argument.require_ordered()

    def cut(values: Column) -> Column:
        return call("slice", call("sort_array", values, False), 1, count)

    part = Part(
        call("max_by", argument.plain, argument.plain, count),
        lambda column: cut(flattened(column)),
        lambda left, right: coalesce(cut(call("concat", left, right)), left, right),
    )
    return CompiledAggregate({"values": part}, lambda of: coalesce(of("values"), sql.array()))
