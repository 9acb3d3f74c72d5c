"""The newest row of each group."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pyspark.sql import DataFrame

from windrow.compile.sql.columns import Column, call, col, struct
from windrow.engine.frames import group, select

_FIXED_SIZE = ("bigint", "int", "smallint", "tinyint", "boolean", "double", "float", "decimal", "date", "timestamp")


def newest(
    rows: DataFrame,
    by: Sequence[str],
    order: str,
    fields: Mapping[str, tuple[Column, str]],
    to_join: bool = False,
) -> DataFrame:
    """One row for each group: `by`, the greatest `order`, and the fields, (column, type), of the row that has it.

    Spark groups by hash where every field has a fixed size, and by sorting otherwise: names from a list are better
    kept as their indexes in it. `to_join` as in `group`.
    """
    greatest = {order: call("max", col(order))}
    if all(kind.startswith(_FIXED_SIZE) for _, kind in fields.values()):
        picked = {name: call("max_by", column, col(order)) for name, (column, _) in fields.items()}
        return group(rows, by, {**picked, **greatest}, to_join)
    whole = struct(**{name: column for name, (column, _) in fields.items()})
    found = group(rows, by, {"_newest": call("max_by", whole, col(order)), **greatest}, to_join)
    kept = {name: col(name) for name in found.columns if name != "_newest"}
    return select(found, {**kept, **{name: col("_newest", name) for name in fields}})
