"""Which cells the elements of a tick may concern, where each concerns only those of its own key."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from pyspark.sql import DataFrame, functions

from windrow.compile.columns import KEY
from windrow.compile.sql.columns import Column, col, lit
from windrow.engine.frames import where, with_column

_TOUCHED = "_touched"


@dataclass(frozen=True)
class Touched:
    """The cells with one of the keys of the elements, of so many rows, and those for which `or_else` holds."""

    rows: int
    keys: Callable[[], DataFrame]
    or_else: Column

    def of(self, cells: DataFrame) -> DataFrame:
        """Those of these cells, found in one pass over them: the keys are few enough for every task to have them."""
        keys = with_column(self.keys(), _TOUCHED, lit(True))
        joined = cells.join(functions.broadcast(keys), on=KEY, how="left")
        return where(joined, col(_TOUCHED).is_not_null() | self.or_else).drop(_TOUCHED)
