"""The share of each source partition where a suite misses rows or values, counted in one pass over the rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote

from pyspark.sql import Row

from windrow.compile.elements.row_rules import applies_to
from windrow.compile.sql.columns import Column, all_of, call, col, struct, when
from windrow.engine.frames import group, with_column
from windrow.quality.located import AT, LocatedRows
from windrow.spec.quality.broken_rows import MOST
from windrow.spec.quality.expectations import Expectation
from windrow.spec.quality.shares import Share, Shares
from windrow.spec.times import format_time

_COUNTED = ("table_row_count_to_be_between", "table_row_count_to_equal")
_MISSING = "column_values_to_not_be_null"
_PART = "_windrow_part"


def find_shares(rows: LocatedRows, broken: Mapping[int, Expectation]) -> dict[int, Shares]:
    """The shares behind these expectations, by the numbers that these have; of results, and of other kinds, none.

    Where there are too few rows, a partition that had some before stands there with none. Missing values are shared
    out where the source has partitions: by file they are counted with the rows themselves.
    """
    told = {number: one for number, one in broken.items() if one.expect in (*_COUNTED, _MISSING)}
    if not told or not rows.at:
        return {}
    partition = col(AT, "partition")
    part = struct(partition=partition, file=when(partition.is_null(), col(AT, "file")))
    counts: dict[str, Column] = {}
    totals: dict[str, Column] = {}
    for number, one in told.items():
        applies = applies_to(one)
        missing = [col(one.arguments["column"]).is_null()] if one.expect == _MISSING else []
        counts[f"of_{number}"] = call("count_if", applies)
        counts[f"n_{number}"] = call("count_if", all_of([applies, *missing]))
        totals |= _totals(number, one)
    (found,) = group(group(with_column(rows.with_places(), _PART, part), (_PART,), counts), (), totals).collect()
    known = rows.partitions() if any(one.expect in _COUNTED for one in told.values()) else {}
    shares = {number: _shares(found, number, one, known) for number, one in told.items()}
    return {number: one for number, one in shares.items() if one.first}


def _totals(number: int, expectation: Expectation) -> dict[str, Column]:
    n, partition = col(f"n_{number}"), col(_PART, "partition")
    is_told = partition.is_not_null() if expectation.expect == _MISSING else _is_named()
    one, order = struct(part=col(_PART), n=n, of=col(f"of_{number}")), struct(n=n, part=col(_PART))
    listed = f"FILTER (WHERE {((n > 0) & is_told).text})"
    return {
        f"all_{number}": call("sum", n),
        f"there_{number}": Column(f"{call('collect_set', partition).text} FILTER (WHERE {(n > 0).text})"),
        f"number_{number}": call("count_if", (n > 0) & is_told),
        **{
            f"{way}_{number}": Column(f"{call(way, one, order, MOST).text} {listed}") for way in ("min_by", "max_by")
        },
    }  # fmt: skip


def _is_named() -> Column:
    return col(_PART, "partition").is_not_null() | col(_PART, "file").is_not_null()


def _shares(found: Row, number: int, expectation: Expectation, known: Mapping[str, int]) -> Shares:
    rows, least, most = (found[f"{name}_{number}"] for name in ("all", "min_by", "max_by"))
    if expectation.expect == _MISSING:
        return Shares(found[f"number_{number}"], tuple(_share(one, one["of"]) for one in most or ()))
    rows = rows or 0
    if rows > expectation.arguments.get("max_value", expectation.arguments.get("value", rows)):
        return Shares(found[f"number_{number}"], tuple(_share(one, rows) for one in most))
    gone = sorted(known.keys() - set(found[f"there_{number}"] or ()))
    none = [Share(0, rows, name, newest=format_time(known[name])) for name in gone]
    listed = [*none, *(_share(one, rows) for one in least or ())]
    return Shares(len(none) + found[f"number_{number}"], tuple(listed[:MOST]))


def _share(one: Any, of: int) -> Share:
    part = one["part"]
    return Share(one["n"], of, part["partition"], None if part["file"] is None else unquote(part["file"]))
