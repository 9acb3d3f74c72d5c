"""The rows of several inputs as one relation, and apart again.

As one they have the envelope, the name of their input, and a struct of all other columns for each input; the step is
made to tell those of one input from those of another, so that step and row identify an element as ever. Spark takes
the union apart again where only one input is asked for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce

from pyspark.sql import DataFrame

from windrow.compile.columns import INPUT
from windrow.compile.elements.envelope import ENVELOPE, STEP
from windrow.compile.sql.columns import Column, col, lit, struct
from windrow.compile.stage import CompiledStage
from windrow.engine.frames import select, where, with_column


def as_one(frames: Mapping[str, DataFrame], names: Sequence[str]) -> DataFrame:
    """Rows with their envelope as one relation; `names` are those of all inputs, of which some may have none.

    The rows of an only input are that relation, as they are.
    """
    if len(names) == 1:
        return frames[names[0]]
    parts = []
    for name, frame in frames.items():
        own = {**{column: col(column) for column in ENVELOPE}, STEP: _told_apart(name, names)}
        columns = struct(**{column: col(column) for column in frame.columns if column not in ENVELOPE})
        parts.append(select(frame, {**own, INPUT: lit(name), _struct(name): columns}))
    return reduce(lambda left, right: left.unionByName(right, allowMissingColumns=True), parts)


def numbered(frame: DataFrame, name: str, names: Sequence[str]) -> DataFrame:
    """The rows of one input with the steps that they have as one relation with those of the others."""
    return frame if len(names) == 1 else with_column(frame, STEP, _told_apart(name, names))


def _told_apart(name: str, names: Sequence[str]) -> Column:
    return col(STEP) * len(names) + names.index(name)


def parted(stage: CompiledStage, rows: DataFrame) -> dict[str, DataFrame]:
    """The rows of each input that has some: `as_one` taken apart."""
    if len(stage.inputs) == 1:
        return dict.fromkeys(stage.inputs, rows)
    structs = [column for column in rows.columns if column.startswith(_OF)]
    own = {column: col(column) for column in rows.columns if column not in {INPUT, *structs}}
    parts = {}
    for whole in structs:
        name = whole.removeprefix(_OF)
        columns = {column: col(whole, column) for column in rows.select(f"{whole}.*").columns}
        parts[name] = select(where(rows, col(INPUT) == lit(name)), {**own, **columns})
    return parts


_OF = "_of_"


def _struct(name: str) -> str:
    """The column with those of an input."""
    return f"{_OF}{name}"
