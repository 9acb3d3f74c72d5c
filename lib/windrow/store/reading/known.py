"""Answers that Delta knows of most files of a table, so that only the others are read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.compute as pc  # type: ignore[import-untyped]

from windrow.store.reading.statistics import FileStatistics
from windrow.store.reading.tables import NUMBER, Condition, Groups

if TYPE_CHECKING:
    from windrow.store.reading.arrow import ArrowTable


def numbers(table: ArrowTable, by: str | None, conditions: Sequence[Condition]) -> Mapping[str | None, int]:
    """See `LakeTable.numbers`. Where it is known how many rows have no text, only those that have one are read."""
    files = table.files.where(pc.invert(table.files.none_meets(conditions)))
    is_known = files.all_meet(conditions)
    found = Counter[str | None]()
    if by is None:
        found[None] += pc.sum(files.where(is_known).rows).as_py() or 0
    else:
        is_known = pc.and_(is_known, pc.is_valid(files.of(by).nulls))
        known = files.where(is_known)
        found.update(_texts(known, by))
        found.update(_read(table, known.where(pc.invert(_has_one_text(known, by))), by, (Condition(by, "is known"),)))
    found.update(_read(table, files.where(pc.invert(is_known)), by, conditions))
    return {text: number for text, number in found.items() if number}


def _has_one_text(known: FileStatistics, by: str) -> pa.ChunkedArray:
    """Whether all rows of a file have the same text, or none, and it is known which."""
    column = known.of(by)
    return pc.or_(pc.equal(column.nulls, known.rows), pc.is_valid(column.only))


def _texts(known: FileStatistics, by: str) -> Counter[str | None]:
    """The rows of these files without a text, and of those with one text the others."""
    column, alike = known.of(by), known.where(_has_one_text(known, by))
    texts = pa.table({"text": alike.of(by).only, NUMBER: pc.subtract(alike.rows, alike.of(by).nulls)})
    sums = texts.group_by("text").aggregate([(NUMBER, "sum")]).to_pylist()
    found = Counter[str | None]({row["text"]: row[f"{NUMBER}_sum"] for row in sums})
    found[None] += pc.sum(column.nulls).as_py() or 0
    return found


def _read(
    table: ArrowTable, files: FileStatistics, by: str | None, conditions: Sequence[Condition]
) -> Mapping[str | None, int]:
    groups = Groups(() if by is None else (by,))
    return {None if by is None else row[by]: row[NUMBER] for row in _groups(table, files, groups, conditions)}


def greatest(table: ArrowTable, column: str, conditions: Sequence[Condition]) -> int | None:
    """See `LakeTable.greatest`. The files that may have it are read from the most promising one on: 1, 2, 4, 8 ..."""
    files = table.files.where(pc.invert(table.files.none_meets((*conditions, Condition(column, "is known")))))
    is_said = pc.and_(files.all_meet(conditions), files.of(column).has_greatest)
    best: int | None = pc.max(files.where(is_said).of(column).greatest).as_py()
    rest, at_once = _above(files.where(pc.invert(is_said)).most_first(column), column, best), 1
    while len(rest):
        found = [row[column] for row in _groups(table, rest[:at_once], Groups(greatest=(column,)), conditions)]
        best = max((one for one in (best, *found) if one is not None), default=None)
        rest, at_once = _above(rest[at_once:], column, best), 2 * at_once
    return best


def _above(files: FileStatistics, column: str, best: int | None) -> FileStatistics:
    """Those that may have a greater value."""
    if best is None:
        return files
    return files.where(pc.fill_null(pc.greater(files.of(column).greatest, best), True))


def _groups(
    table: ArrowTable, files: FileStatistics, wanted: Groups, conditions: Sequence[Condition]
) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = table.groups_of(files, wanted, conditions).to_pylist() if len(files) else []
    return found
