"""The panes of a join, made of those of its co-group: a row for each pair of what one has collected.

Rule: docs/semantics.md#several-inputs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from windrow.compile.columns import PANES
from windrow.compile.panes.panes import PANE_FIELDS
from windrow.compile.sql.chain import Chain
from windrow.compile.sql.columns import Column, call, case, col, quoted, struct
from windrow.spec.stages.joins import rows_name
from windrow.spec.stages.stage import Stage

JOINED = "rows"
"""The value of a window of a join: an array of its rows as they are shown, with their numbers."""
_ROWS, _ONE = f"v_{JOINED}", "_one"


@dataclass(frozen=True)
class JoinedPanes:
    """`stage` is the join, `kinds` are the types of `v_` columns of its cells: lists of rows."""

    stage: Stage
    kinds: Mapping[str, str]

    def of_transitions(self, transitions: Chain) -> Chain:
        """Every pane once for each of its rows, with their columns and the number of the row in it."""
        pairs = self._pairs(lambda name: Column(f"pane.result.{quoted(name)}"))
        shown = f"transform({pairs.text}, (pair, number) -> {self._pane().text})"
        panes = Column(f"flatten(transform({col(PANES).text}, pane -> {shown}))")
        return transitions.with_columns({PANES: panes})

    def of_windows(self, windows: Chain) -> Chain:
        """The windows with their rows in order, of what their inputs have collected; those that have one."""
        pairs = self._pairs(lambda name: col(f"v_{name}"))
        rows = Column(f"transform({pairs.text}, (pair, number) -> {self._row().text})")
        kept = {name: col(name) for name in windows.names if name not in self.kinds}
        return windows.select({**kept, _ROWS: rows}).where(call("size", col(_ROWS)) > 0)

    @property
    def values(self) -> tuple[str, ...]:
        return (JOINED,)

    @property
    def gathered(self) -> Mapping[str, Column]:
        of_row = {name: col(f"v_{name}") for name in self.stage.emitted}
        numbered = call("collect_list", struct(number=col("v_row"), row=struct(**of_row)))
        return {_ROWS: Column(f"transform(array_sort({numbered.text}), one -> one.row)")}

    def inserted(self, window: Column, pane: Callable[[Mapping[str, Column]], Column]) -> Column:
        one = pane({name: Column(f"one.{quoted(name)}") for name in self.stage.emitted})
        return Column(f"transform({window.field(JOINED).text}, one -> {one.text})")

    def rows(self, windows: Chain) -> Chain:
        kept = {name: col(name) for name in windows.names if name != _ROWS}
        exploded = windows.select({**kept, _ONE: call("explode", col(_ROWS))})
        return exploded.select({**kept, **{f"v_{name}": col(_ONE, name) for name in self.stage.emitted}})

    @property
    def result_type(self) -> str:
        """The Spark type of the result of a row."""
        fields = [field for name in self.stage.inputs for field in self._fields(name)]
        return f"struct<{', '.join([*fields, '`row`: bigint'])}>"

    def _fields(self, name: str) -> list[str]:
        """The columns of an input with their types, as in the struct of its rows."""
        kind = self.kinds[f"v_{rows_name(name)}"].removeprefix("array<struct<").removesuffix(">>")
        return [kind] if self.stage.inputs[name].columns else []

    def _pairs(self, collected: Callable[[str], Column]) -> Column:
        left, right = self.stage.inputs
        ours, theirs = (collected(rows_name(name)).text for name in (left, right))
        kinds = [self.kinds[f"v_{rows_name(name)}"].removeprefix("array<").removesuffix(">") for name in (left, right)]
        nothing = [f"CAST(NULL AS {kind})" for kind in kinds]
        join = self.stage.join
        assert join is not None
        both = f"transform({theirs}, other -> named_struct('left', one, 'right', other))"
        pairs = Column(f"flatten(transform({ours}, one -> {both}))")
        alone = []
        if join.keeps_left:
            only = f"transform({ours}, one -> named_struct('left', one, 'right', {nothing[1]}))"
            alone.append((Column(f"size({theirs}) = 0"), Column(only)))
        if join.keeps_right:
            only = f"transform({theirs}, one -> named_struct('left', {nothing[0]}, 'right', one))"
            alone.append((Column(f"size({ours}) = 0"), Column(only)))
        return case(*alone, otherwise=pairs) if alone else pairs

    def _row(self) -> Column:
        """The columns of a pair, and its number."""
        columns = {
            column: Column(f"pair.{side}.{quoted(column)}")
            for side, one in zip(("left", "right"), self.stage.inputs.values(), strict=True)
            for column in one.columns
        }
        return struct(**columns, row=Column("CAST(number AS BIGINT)"))

    def _pane(self) -> Column:
        """The pane with the pair in place of what it has collected."""
        names = [*PANE_FIELDS, *(["event_time"] if self.stage.keeps_event_times else [])]
        return struct(**{name: Column(f"pane.{quoted(name)}") for name in names}, result=self._row())
