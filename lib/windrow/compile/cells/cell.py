"""What one tick does to a cell, one key and window, as columns.

Rules: docs/semantics.md#ticks, docs/semantics.md#panes, docs/semantics.md#accumulation-and-changes.

Every phase is a plain projection over a frame with one row for each cell that is evaluated.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from windrow.compile.aggregates.parts import Values
from windrow.compile.cells.accumulation import clearing
from windrow.compile.cells.state import CellState
from windrow.compile.columns import CELL, ELEMENTS, EXPIRED, NET, OPENED, PANES, STATE, WINDOW_END
from windrow.compile.panes import event_times
from windrow.compile.panes.panes import (
    EARLY,
    EXPIRY,
    LATE,
    ON_TIME,
    TIMINGS,
    PaneColumns,
    pane_struct,
    percentile_reached,
)
from windrow.compile.panes.results import PASSES, with_conditions, with_passes
from windrow.compile.sql import columns as sql
from windrow.compile.sql.chain import Chain
from windrow.compile.sql.columns import (
    Column,
    all_of,
    any_of,
    bigint,
    case,
    coalesce,
    col,
    index_of,
    lit,
    name_at,
    saturating_add,
    when,
)
from windrow.compile.triggers.clocks import WATERMARK, CellClock
from windrow.compile.triggers.registry import NODES, Nodes
from windrow.compile.triggers.tree import timer_column
from windrow.spec.stages.stage import Emission


@dataclass(frozen=True)
class CellColumns(CellState):
    """What a tick does to the cells of a stage, one projection for each phase."""

    nodes: ClassVar[Nodes] = NODES
    """What the triggers of such cells do."""

    def before(self, evaluated: Chain) -> Chain:
        """State columns by their own names, from `s_` columns that are null where the cell is new."""
        started = {
            name: coalesce(col(f"s_{name}"), lit(initial).cast(kind)) if initial is not None else col(f"s_{name}")
            for name, (kind, initial) in self.state.items()
        }  # fmt: skip
        counts = (ELEMENTS, NET) if self.is_weighted else (ELEMENTS,)
        kept = {name: col(name) for name in (*CELL, *counts, *self.tick_parts)}
        return evaluated.select({**kept, **started, **self.opened()})

    def opened(self) -> Mapping[str, Column]:
        """Whether a cell begins with the tick, over `s_` columns; and what else the family says of its beginning."""
        return {OPENED: col("s_new").is_null()}

    def add(self, cells: Chain, clock: CellClock) -> Chain:
        """Add the tick's elements to aggregates, counters and trigger."""
        is_open, has_elements = ~col("closed"), col(ELEMENTS) > 0
        added: dict[str, Column] = {}
        for name, aggregate in self.aggregates.items():
            for part, columns in aggregate.parts.items():
                state, partial = col(f"a_{name}_{part}"), col(f"p_{name}_{part}")
                added[f"a_{name}_{part}"] = when(is_open & has_elements, columns.combine(state, partial), state)
        added["new"] = col("new") + when(is_open, col(ELEMENTS), bigint(0))
        if self.is_weighted:
            added["net"] = col("net") + when(is_open, col(NET), bigint(0))
        added.update(event_times.added(self.stage, is_open))
        since = sql.least(col("since"), clock.column_before())
        added["since"] = when(is_open & has_elements, since, col("since"))
        return self.tree.add(cells.with_columns(added), is_open, clock)

    def fire(self, cells: Chain, clock: CellClock, partition_watermarks: list[int] | None) -> Chain:
        """Evaluate the trigger and decide what is emitted: the columns `fires`, `emits`, `timing` and the values."""
        results = {name: aggregate.value(_parts_of(name)) for name, aggregate in self.aggregates.items()}
        cells = self.tree.evaluate(with_conditions(self.stage, self.tree.conditions, results, cells), clock)
        expires = saturating_add(col(WINDOW_END), self.stage.allowed_lateness) <= clock.column(WATERMARK)
        complete = col(WINDOW_END) <= clock.column(WATERMARK)
        passes_end = complete & (col(WINDOW_END) > clock.column_before())
        ready = ~col("closed") & col(self.tree.firings)
        cells = cells.with_columns({EXPIRED: expires, "complete": complete, "passes_end": passes_end, "ready": ready})
        fires = ~col("closed") & (col("ready") | col(EXPIRED)) & self._has_content()
        if self.is_weighted:  # where nothing is left, there is at most something to retract
            fires = fires & (self._holds() | col("standing"))
        cells = cells.with_columns({"fires": fires})
        values = {
            f"v_{name}": aggregate.value(_parts_of(name), col("fires")) for name, aggregate in self.aggregates.items()
        }
        cells = with_passes(self.stage, cells.with_columns({**values, "timing": self._timing()}))
        emits = col("fires") & ~self._unchanged() if self.stage.only_if_changed else col("fires")
        retracts = lit(False)
        if self.stage.having is not None or self.is_weighted:
            is_shown = col(PASSES) if self.stage.having is not None else lit(True)
            is_shown = is_shown & self._holds() if self.is_weighted else is_shown
            emits, retracts = emits & is_shown, col("fires") & ~is_shown & col("standing")
        percentile = percentile_reached(clock.column(WATERMARK), partition_watermarks)
        return cells.with_columns(
            {"emits": emits, "retracts": retracts, "percentile": when(col("timing") != LATE, percentile),
             "leaf": when(col("ready"), self._leaf_name(), EXPIRY)}
        )  # fmt: skip

    def _holds(self) -> Column:
        """Whether an element is left that was not taken back."""
        return col("net") > 0

    def _has_content(self) -> Column:
        has_content = col("new") > 0
        if self.stage.on_time is Emission.ALWAYS:
            has_content = has_content | col("passes_end")
        if self.stage.closing is Emission.ALWAYS:
            has_content = has_content | col(EXPIRED)
        return has_content

    def _timing(self) -> Column:
        on_time = coalesce(col("since") < col(WINDOW_END), False)
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

    def after(self, cells: Chain, clock: CellClock) -> Chain:
        """The trigger's state after the firing, and the panes that the tick emits."""
        return self.settled(cells, clock).with_columns({PANES: self._panes()})

    def settled(self, cells: Chain, clock: CellClock) -> Chain:
        """The trigger's state after the firing, and whether the cell closes by it."""
        cells = self.tree.fire(cells, clock)
        return cells.with_columns({"closes": col("ready") & self.tree.root.col("finished")})

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
                event_time=self._event_time(col(event_times.KEPT)),
            )
        )
        if not self.can_retract:
            return when(col("emits"), sql.array(pane))
        emitted = (col("emits"), sql.array(pane))
        gone = (col("retracts"), sql.array(self.retracted("delete")))
        if not self.stage.is_retracting:
            return case(emitted, gone)
        replaced = sql.array(self.retracted("update_preimage"), pane)
        return case((col("emits") & col("standing"), replaced), emitted, gone)

    def retracted(self, change: str) -> Column:
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
                event_time=col("last_event_time") if self.stage.keeps_event_times else None,
            )
        )

    def _event_time(self, kept: Column) -> Column | None:
        return event_times.of_pane(kept) if self.stage.keeps_event_times else None

    def transitions(self, cells: Chain) -> Chain:
        """`key`, bounds, `state` after the tick, `panes`, `expired`, `opened`."""
        return self.transitions_apart(cells)

    def transitions_apart(self, cells: Chain) -> Chain:
        """The same of windows of which none was made of others."""
        kept = {name: col(name) for name in (*CELL, PANES, EXPIRED, OPENED)}
        return cells.select({**kept, STATE: self.left_or(sql.struct(**self.state_after()))})

    def left_or(self, state: Column) -> Column:
        """The state of a window after the tick: of one that has expired what it leaves."""
        return when(~col(EXPIRED), state)

    def own_after(self) -> Mapping[str, Column]:
        """The fields of `own_fields` after the tick."""
        return {}

    def state_after(self) -> Mapping[str, Column]:
        """The fields of the state after the tick."""
        fires, emits, early = col("fires"), col("emits"), col("timing") == EARLY
        after: dict[str, Column] = dict(self._aggregates_after())
        after["new"] = when(fires, bigint(0), col("new"))
        after["since"] = when(~fires, col("since"))
        after["emitted"] = col("emitted") + emits.cast("int")
        after["emitted_on_time"] = col("emitted_on_time") + (emits & ~early).cast("int")
        after["completed"] = col("completed") | (fires & col("complete"))
        after["closed"] = col("closed") | col("closes")
        clears = emits & clearing(self.stage, self.tree)
        after["standing"] = ((col("standing") & ~col("retracts")) | emits) & ~clears
        if self.is_weighted:
            after["net"] = col("net")
        after.update(self.own_after())
        last = {
            "timing": index_of(TIMINGS, col("timing")),
            "trigger": index_of(self._leaf_names, col("leaf")),
            "percentile": col("percentile"),
            "on_time_index": when(~early, col("emitted_on_time")),
        }
        if self.stage.keeps_event_times:
            after[event_times.KEPT] = when(~fires, col(event_times.KEPT))
            last["event_time"] = event_times.of_pane(col(event_times.KEPT))
        if self.can_retract:
            after.update({f"last_{n}": when(emits, c, col(f"last_{n}")) for n, c in last.items()})
        if self.keeps_values:
            for name in self.aggregates:
                kept = col(f"last_v_{name}")
                after[f"last_v_{name}"] = when(emits, col(f"v_{name}"), kept)
        after.update({name: col(name) for name in self.tree.state})
        for clock in self.tree.clocks:
            after[timer_column(clock)] = when(~(col("closed") | col("closes")), self.tree.timer(clock))
        return {name: after[name].cast(kind) for name, (kind, _) in self.state.items()}

    def _aggregates_after(self) -> Mapping[str, Column]:
        after = {}
        may_clear = self.stage.is_discarding or self.stage.is_mixed
        clears = col("emits") & clearing(self.stage, self.tree)
        for name, aggregate in self.aggregates.items():
            parts = _parts_of(name)
            carried = aggregate.carry(parts) if aggregate.carry else {}
            for part in aggregate.parts:
                kept = carried.get(part, parts(part))
                after[f"a_{name}_{part}"] = when(~clears, kept) if may_clear else kept
        return after

    def is_timer_due(self, clock: CellClock) -> Column:
        """Whether a cell that got nothing must be evaluated: a timer is due, or it expires."""
        timers = {name: col(STATE, timer_column(name)) for name in self.tree.clocks}
        reached = [coalesce(timer <= clock.column(name), False) for name, timer in timers.items()]
        expires = saturating_add(col(WINDOW_END), self.stage.allowed_lateness) <= clock.column(WATERMARK)
        return any_of([*reached, expires])


def _parts_of(name: str) -> Values:
    """The parts of an aggregate in the cell's state."""
    return lambda part: col(f"a_{name}_{part}")
