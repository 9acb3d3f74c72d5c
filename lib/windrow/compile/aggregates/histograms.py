"""How many values are in each of some buckets. Rule: docs/semantics.md#aggregates."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

from windrow.compile.aggregates.parts import Argument, CompiledAggregate, Part, total
from windrow.compile.sql import columns as sql
from windrow.compile.sql.columns import Column, bigint, call, coalesce, when

_DIGITS = 20
"""Beside a bound of 18 digits, more would not fit into a decimal."""


def histogram(argument: Argument, bounds: Sequence[int | Decimal]) -> CompiledAggregate:
    """The numbers of values below the first bound, from each bound up to but without the next, and from the last on.

    They are one array in the state.
    """
    argument.require_number(_DIGITS)
    limits = [_literal(bound) for bound in bounds]
    indexes = range(len(limits) + 1)
    part = Part(
        sql.array(*[coalesce(argument.counted(_is_in(argument.plain, limits, index)), 0) for index in indexes]),
        lambda column: when(
            call("count", column) > 0, sql.array(*[total(Column(f"{column.text}[{index}]")) for index in indexes])
        ),
        lambda left, right: coalesce(_added(left, right), left, right),
    )
    nothing = sql.array(*[bigint(0) for _ in indexes])
    return CompiledAggregate({"counts": part}, lambda of: coalesce(of("counts"), nothing))


def _literal(bound: int | Decimal) -> Column:
    if isinstance(bound, int):
        return bigint(bound)
    whole, _, behind = f"{bound:f}".lstrip("-").partition(".")
    digits = max(len(whole.lstrip("0")) + len(behind), 1)
    return Column(f"CAST('{bound:f}' AS DECIMAL({digits},{len(behind)}))")


def _is_in(value: Column, limits: Sequence[Column], index: int) -> Column:
    reaches = [value >= limits[index - 1]] if index > 0 else []
    stays = [value < limits[index]] if index < len(limits) else []
    return sql.all_of([*reaches, *stays])


def _added(left: Column, right: Column) -> Column:
    return Column(f"zip_with({left.text}, {right.text}, (one, other) -> one + other)")
