"""A cell, one key and window: its state as columns, and what one tick does to it. Rule: SEMANTICS sections 2 and 6.

The state is flat: aggregates' parts, what is new, the counters of panes, what the last pane was, and the trigger's
nodes. Every step is a plain projection over a frame with one row for each cell that is asked.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from windrow.compile import sql
from windrow.compile.aggregates import CompiledAggregate
from windrow.compile.chain import Chain
from windrow.compile.columns import CELL, ELEMENTS, WINDOW_END
from windrow.compile.having import PASSES, with_passes
from windrow.compile.panes import (
    EARLY,
    EXPIRY,
    LATE,
    ON_TIME,
    TIMINGS,
    PaneColumns,
    pane_struct,
    percentile_reached,
)
from windrow.compile.sql import (
    Column,
    Value,
    all_of,
    bigint,
    case,
    changing,
    coalesce,
    col,
    lit,
    name_at,
    place_of,
    saturating_add,
    when,
)
from windrow.compile.triggers import DUE, TickClock, TriggerTree
from windrow.spec.stages import Emission, Stage
from windrow.spec.triggers import Domain

STATE = "state"
PANES = "panes"
EXPIRED = "expired"
OPENED = "opened"

_COUNTERS: Mapping[str, tuple[str, Value]] = {
    "new": ("bigint", 0),
    "in_time": ("boolean", False),
    "emitted": ("int", 0),
    "emitted_on_time": ("int", 0),
    "completed": ("boolean", False),
    "closed": ("boolean", False),
}
"""Elements not yet emitted; whether one of them was added before the end; panes so far, and those not early; whether a
pane was fired with the window complete; whether the trigger has finished."""

_LAST: Mapping[str, tuple[str, Value]] = {
    "standing": ("boolean", False),
    "last_timing": ("int", None),
    "last_on_time_index": ("int", None),
    "last_trigger": ("int", None),
    "last_percentile": ("int", None),
}
"""Whether the window's last pane still stands, and what it was, for its withdrawal. Names are kept as their places in a
list, from 1: a state of numbers alone is grouped by hash, one with texts by sorting."""


@dataclass(frozen=True)
class CellColumns:
    """The columns of a stage's cells. `value_types` and `part_types` are the types of `v_` and `p_` columns."""

    stage: Stage
    aggregates: Mapping[str, CompiledAggregate]
    tree: TriggerTree
    part_types: Mapping[str, str]
    value_types: Mapping[str, str]

    @property
    def parts(self) -> list[tuple[str, str]]:
        """All (aggregate, part) pairs, in order."""
        return [(name, part) for name, aggregate in self.aggregates.items() for part in aggregate.parts]

    @property
    def keeps_values(self) -> bool:
        return self.stage.can_withdraw or self.stage.only_if_changed

    @property
    def state(self) -> Mapping[str, tuple[str, Value]]:
        """The fields of the state: name, type, and the value in a cell that is new."""
        fields: dict[str, tuple[str, Value]] = {
            f"a_{name}_{part}": (self.part_types[f"p_{name}_{part}"], None) for name, part in self.parts
        }
        fields.update(_COUNTERS)
        fields["standing"] = _LAST["standing"]
        if self.stage.can_withdraw:
            fields.update(_LAST)
        if self.keeps_values:
            fields.update({f"last_{name}": (kind, None) for name, kind in self.value_types.items()})
        fields.update(self.tree.state)
        fields.update({column: ("bigint", None) for column in DUE.values()})
        return fields

    @property
    def state_type(self) -> str:
        """The Spark type of the state."""
        return "struct<" + ", ".join(f"`{name}`: {kind}" for name, (kind, _) in self.state.items()) + ">"

    @property
    def pane_type(self) -> str:
        """The Spark type of a pane in the journal."""
        result = ", ".join(f"`{name.removeprefix('v_')}`: {kind}" for name, kind in self.value_types.items())
        return (
            "struct<change: string, weight: int, timing: string, pane_index: int, on_time_index: int, "
            "is_first: boolean, is_last: boolean, `trigger`: string, watermark_percentile: int, "
            f"result: struct<{result}>>"
        )

    def before(self, asked: Chain) -> Chain:
        """State columns by their own names, from `s_` columns that are null where the cell is new."""
        started = {
            name: coalesce(col(f"s_{name}"), lit(initial).cast(kind)) if initial is not None else col(f"s_{name}")
            for name, (kind, initial) in self.state.items()
        }  # fmt: skip
        parts = [f"p_{name}_{part}" for name, part in self.parts]
        kept = {name: col(name) for name in (*CELL, ELEMENTS, *parts)}
        return asked.select({**kept, **started, OPENED: col("s_new").is_null()})

    def add(self, cells: Chain, clock: TickClock) -> Chain:
        """Add the tick's elements to aggregates, counters and trigger."""
        is_open, has_elements = ~col("closed"), col(ELEMENTS) > 0
        added: dict[str, Column] = {}
        for name, aggregate in self.aggregates.items():
            for part, columns in aggregate.parts.items():
                state, partial = col(f"a_{name}_{part}"), col(f"p_{name}_{part}")
                added[f"a_{name}_{part}"] = when(is_open & has_elements, columns.combine(state, partial), state)
        added["new"] = col("new") + when(is_open, col(ELEMENTS), bigint(0))
        in_time = has_elements & (col(WINDOW_END) > changing(clock.watermark_before))
        added["in_time"] = col("in_time") | (is_open & in_time)
        return self.tree.add(cells.with_columns(added), is_open, clock)

    def fire(self, cells: Chain, clock: TickClock, partition_watermarks: list[int] | None) -> Chain:
        """Ask the trigger and decide what is emitted: the columns `fires`, `emits`, `timing` and the values."""
        cells = self.tree.ask(cells, clock)
        expires = saturating_add(col(WINDOW_END), self.stage.allowed_lateness) <= changing(clock.watermark_after)
        complete = col(WINDOW_END) <= changing(clock.watermark_after)
        passes_end = complete & (col(WINDOW_END) > changing(clock.watermark_before))
        ready = ~col("closed") & col(self.tree.firings)
        cells = cells.with_columns({EXPIRED: expires, "complete": complete, "passes_end": passes_end, "ready": ready})
        fires = ~col("closed") & (col("ready") | col(EXPIRED)) & self._has_content()
        cells = cells.with_columns({"fires": fires})
        values = {
            f"v_{name}": when(col("fires"), aggregate.extract(_parts_of(name)))
            for name, aggregate in self.aggregates.items()
        }
        cells = with_passes(self.stage, cells.with_columns({**values, "timing": self._timing()}))
        emits = col("fires") & ~self._unchanged() if self.stage.only_if_changed else col("fires")
        withdraws = lit(False)
        if self.stage.having is not None:
            emits, withdraws = emits & col(PASSES), col("fires") & ~col(PASSES) & col("standing")
        percentile = percentile_reached(clock.watermark_after, partition_watermarks)
        return cells.with_columns(
            {"emits": emits, "withdraws": withdraws, "percentile": when(col("timing") != LATE, percentile),
             "leaf": when(col("ready"), self._leaf_name(), EXPIRY)}
        )  # fmt: skip

    def _has_content(self) -> Column:
        has_content = col("new") > 0
        if self.stage.on_time is Emission.ALWAYS:
            has_content = has_content | col("passes_end")
        if self.stage.closing is Emission.ALWAYS:
            has_content = has_content | col(EXPIRED)
        return has_content

    def _timing(self) -> Column:
        on_time = col("in_time")
        if self.stage.on_time is Emission.ALWAYS:
            on_time = on_time | col("passes_end")
        late_or_on_time = when(~col("completed") & on_time, ON_TIME, LATE)
        return when(col("complete"), late_or_on_time, EARLY)

    def _unchanged(self) -> Column:
        same = all_of(col(f"v_{name}").same(col(f"last_v_{name}")) for name in self.aggregates)
        return col("standing") & same

    @property
    def _leaf_names(self) -> tuple[str, ...]:
        return (*self.tree.leaf_names, EXPIRY)

    def _leaf_name(self) -> Column:
        names = self.tree.leaf_names
        if len(set(names)) == 1:
            return lit(names[0])
        return sql.call("element_at", sql.array(*names), self.tree.root.col("leaf") + 1)

    def after(self, cells: Chain, clock: TickClock) -> Chain:
        """The trigger's state after the firing, and the panes that the tick emits."""
        cells = self.tree.fire(cells, clock)
        closes = col("ready") & self.tree.root.col("finished")
        cells = cells.with_columns({"closes": closes})
        return cells.with_columns({PANES: self._panes()})

    def _panes(self) -> Column:
        pane = pane_struct(
            PaneColumns(
                change=when(col("standing"), "update_postimage", "insert"),
                weight=1,
                timing=col("timing"),
                pane_index=col("emitted"),
                on_time_index=when(col("timing") != EARLY, col("emitted_on_time")),
                is_last=col(EXPIRED) | col("closes"),
                trigger=col("leaf"),
                percentile=col("percentile"),
                values={name: col(f"v_{name}") for name in self.aggregates},
            )
        )
        if not self.stage.can_withdraw:
            return when(col("emits"), sql.array(pane))
        emitted = (col("emits"), sql.array(pane))
        gone = (col("withdraws"), sql.array(self._withdrawn("delete")))
        if not self.stage.is_retracting:
            return case(emitted, gone)
        replaced = sql.array(self._withdrawn("update_preimage"), pane)
        return case((col("emits") & col("standing"), replaced), emitted, gone)

    def _withdrawn(self, change: str) -> Column:
        """The last pane once more, as it was, but for its change and weight."""
        return pane_struct(
            PaneColumns(
                change=lit(change),
                weight=-1,
                timing=name_at(TIMINGS, col("last_timing")),
                pane_index=col("emitted") - 1,
                on_time_index=col("last_on_time_index"),
                is_last=lit(False),
                trigger=name_at(self._leaf_names, col("last_trigger")),
                percentile=col("last_percentile"),
                values={name: col(f"last_v_{name}") for name in self.aggregates},
            )
        )

    def transitions(self, cells: Chain) -> Chain:
        """`key`, bounds, `state` after the tick (null when expired), `panes`, `expired`, `opened`."""
        state = when(~col(EXPIRED), sql.struct(**self._state_after()))
        kept = {name: col(name) for name in (*CELL, PANES, EXPIRED, OPENED)}
        return cells.select({**kept, STATE: state})

    def _state_after(self) -> Mapping[str, Column]:
        fires, emits, early = col("fires"), col("emits"), col("timing") == EARLY
        after: dict[str, Column] = dict(self._aggregates_after())
        after["new"] = when(fires, bigint(0), col("new"))
        after["in_time"] = col("in_time") & ~fires
        after["emitted"] = col("emitted") + emits.cast("int")
        after["emitted_on_time"] = col("emitted_on_time") + (emits & ~early).cast("int")
        after["completed"] = col("completed") | (fires & col("complete"))
        after["closed"] = col("closed") | col("closes")
        stands = (col("standing") & ~col("withdraws")) | emits
        after["standing"] = lit(False) if self.stage.is_discarding else stands
        last = {
            "timing": place_of(TIMINGS, col("timing")),
            "trigger": place_of(self._leaf_names, col("leaf")),
            "percentile": col("percentile"),
            "on_time_index": when(~early, col("emitted_on_time")),
        }
        if self.stage.can_withdraw:
            after.update({f"last_{n}": when(emits, c, col(f"last_{n}")) for n, c in last.items()})
        if self.keeps_values:
            for name in self.aggregates:
                kept = col(f"last_v_{name}")
                after[f"last_v_{name}"] = when(emits, col(f"v_{name}"), kept)
        after.update({name: col(name) for name in self.tree.state})
        for domain, column in DUE.items():
            after[column] = when(~(col("closed") | col("closes")), self.tree.due(domain))
        return {name: after[name].cast(kind) for name, (kind, _) in self.state.items()}

    def _aggregates_after(self) -> Mapping[str, Column]:
        after = {}
        for name, aggregate in self.aggregates.items():
            parts = _parts_of(name)
            carried = aggregate.carry(parts) if aggregate.carry else {}
            for part in aggregate.parts:
                kept = carried.get(part, parts(part))
                after[f"a_{name}_{part}"] = when(~col("emits"), kept) if self.stage.is_discarding else kept
        return after

    def is_due(self, clock: TickClock, state: str = STATE) -> Column:
        """Whether a cell that got nothing must be asked: a deadline is reached, or it expires."""

        def reached(column: str, now: int) -> Column:
            return coalesce(col(state, column) <= changing(now), False)

        return (
            reached(DUE[Domain.PROCESSING_TIME], clock.now)
            | reached(DUE[Domain.EVENT_TIME], clock.watermark_after)
            | (saturating_add(col(WINDOW_END), self.stage.allowed_lateness) <= changing(clock.watermark_after))
        )


def _parts_of(name: str) -> Callable[[str], Column]:
    return lambda part: col(f"a_{name}_{part}")
