"""Groups of rows, counted by Arrow while it reads them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.compute as pc  # type: ignore[import-untyped]

from windrow.store.reading.tables import NUMBER, Groups

if TYPE_CHECKING:  # to import Arrow's datasets takes long
    from pyarrow import dataset


def grouped(rows: dataset.Dataset, wanted: Groups, condition: pc.Expression, columns: Sequence[str]) -> pa.Table:
    """The groups of the rows that meet a condition, for which these columns are read. Errors: Arrow's."""
    from pyarrow import acero

    keys = _keys(rows.schema, wanted.by)
    values = {**keys, **{_of(name): pc.field(name).cast(pa.int64()) for name in wanted.measures}}
    aggregates: list[tuple[Any, ...]] = [([], "hash_count_all" if keys else "count_all", None, NUMBER)]
    for function, names in (("max", wanted.greatest), ("sum", wanted.totals)):
        aggregates += [(_of(name), f"hash_{function}" if keys else function, None, name) for name in names]
    read = {name: pc.field(name) for name in columns}
    steps = [
        acero.Declaration("scan", acero.ScanNodeOptions(rows, columns=read, filter=condition)),
        acero.Declaration("filter", acero.FilterNodeOptions(condition)),
        acero.Declaration("project", acero.ProjectNodeOptions([*values.values()], [*values])),
        acero.Declaration("aggregate", acero.AggregateNodeOptions(aggregates, [*keys])),
    ]
    return acero.Declaration.from_sequence(steps).to_table()


def plain(column: pc.Expression, kind: pa.DataType) -> pc.Expression:
    """Timestamps as microseconds."""
    return column.cast(pa.int64()) if pa.types.is_timestamp(kind) else column


def _keys(schema: pa.Schema, names: Sequence[str]) -> dict[str, pc.Expression]:
    found: dict[str, pc.Expression] = {}
    for name in names:
        for path, kind in _leaves((name,), schema.field(name).type):
            found[".".join(path)] = plain(pc.field(*path), kind)
    return found


def _of(name: str) -> str:
    """The column from which a measure is made; a key may have the name of the measure."""
    return f"{name} to measure"


def _leaves(path: tuple[str, ...], kind: pa.DataType) -> Iterator[tuple[tuple[str, ...], pa.DataType]]:
    """A column, or the fields of a struct, also of those in it."""
    if not pa.types.is_struct(kind):
        yield path, kind
        return
    for one in kind:
        yield from _leaves((*path, one.name), one.type)
