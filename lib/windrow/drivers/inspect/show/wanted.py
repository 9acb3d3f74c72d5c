"""Which rows of a stage's table somebody wants to see."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from windrow.spec.errors import SpecError
from windrow.spec.pipelines.table_columns import current_columns, pane_columns
from windrow.spec.stages.stage import Stage

NULL = "null"
"""What stands for the null key."""

Found = tuple[list[tuple[Any, ...]], int]
"""The rows that are wanted, the newest in front, with the columns TIMES as microseconds; and of how many they are."""


@dataclass(frozen=True)
class Wanted:
    """The last `limit` rows of `current`, or of `panes`, that meet the conditions.

    `keys` has texts by the names of keys, `NULL` for the null key. `at` is a time inside of the windows, in
    microseconds; the global window holds every time. Errors: SpecError for a name that is not a key.
    """

    stage: Stage
    panes: bool
    keys: Mapping[str, str]
    at: int | None
    limit: int

    def __post_init__(self) -> None:
        names = list(self.stage.keys)
        for name in self.keys:
            if name not in names:
                hint = f"the keys are {', '.join(names)}" if names else "the stage has no keys"
                raise SpecError("--key", f"names what is not a key of {self.stage.name}", name, hint)

    @property
    def table(self) -> str:
        return "panes" if self.panes else "current"

    @property
    def columns(self) -> Sequence[str]:
        return pane_columns(self.stage) if self.panes else current_columns(self.stage)

    @property
    def order(self) -> Sequence[str]:
        """By what rows are sorted, nulls first: by window, or by tick. A retraction comes before what replaces it."""
        order = ["window_start", "window_end", *self.stage.keys, "pane_index"]
        return ["tick", *order, "weight", *self.stage.row_number] if self.panes else [*order, *self.stage.row_number]
