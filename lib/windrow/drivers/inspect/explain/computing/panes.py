"""The panes of a window as people see them, and whether they are what follows from the rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from windrow.drivers.inspect.explain.computing.aggregates import equal
from windrow.drivers.inspect.explain.computing.contents import Contents
from windrow.drivers.inspect.explain.computing.following import Expected, Verdict
from windrow.drivers.inspect.explain.reading.elements import MASK, Member
from windrow.drivers.inspect.explain.reading.rows import Row, bounds_of
from windrow.drivers.inspect.explain.reading.ticks import Ticks
from windrow.spec.evaluation.kinds import NotEvaluated
from windrow.spec.stages.stage import Stage
from windrow.store.journal.control import FORGETTING, READING
from windrow.view.explain.life import LifePane
from windrow.view.text.table import cell


@dataclass(frozen=True)
class Compared:
    """What the rows give for a pane: the results that are known, and in words what is otherwise than shown."""

    results: Mapping[str, Any] = field(default_factory=dict)
    differences: Sequence[str] = ()
    differing: Sequence[str] = ()


def life_panes(
    stage: Stage, rows: Sequence[Row], ticks: Ticks, masked: frozenset[str], compared: Mapping[int, Compared]
) -> Iterator[LifePane]:
    """Rows of `panes` as people see them, each with what has changed; `compared` goes by the numbers of the rows."""
    before: dict[tuple[int, int], Mapping[str, Any]] = {}
    for number, row in enumerate(rows):
        window, value = bounds_of(row), {name: row[name] for name in stage.result_columns}
        found, control = compared.get(number, Compared()), ticks.by_number.get(row["tick"])
        last = before.get(window, {})
        is_shown = row["weight"] > 0
        changed = {name: (last[name], value[name]) for name in last if not equal(last[name], value[name])}
        if is_shown:
            before[window] = value
        elif row["change"] == "delete":
            before.pop(window, None)
        yield LifePane(
            tick=row["tick"],
            processing_time=row["produced_at"],
            kind="" if control is None else control.kind,
            change=row["change"],
            timing=row["timing"],
            trigger=row["trigger"],
            index=row["pane_index"],
            window=window,
            weight=row["weight"],
            is_last=row["is_last"],
            value=_masked(value, masked),
            changed={n: (MASK, MASK) if n.lower() in masked else v for n, v in changed.items() if is_shown},
            computed=_masked(found.results, masked),
            differs=found.differing,
        )


def _masked(value: Mapping[str, Any], masked: frozenset[str]) -> dict[str, Any]:
    return {name: MASK if name.lower() in masked else one for name, one in value.items()}


@dataclass(frozen=True)
class Comparison:
    """The panes of a window beside what follows from its members. `verdicts` go by tick, if the window was followed.

    `is_exact`: the members are all elements of the window, and no other ones.
    """

    stage: Stage
    ticks: Ticks
    members: Sequence[Member]
    contents: Contents
    masked: frozenset[str]
    verdicts: Mapping[int, Verdict] | None
    is_exact: bool

    def of(self, rows: Sequence[Row]) -> dict[int, Compared]:
        """By the numbers of the rows; a retraction is compared with the pane that it takes back."""
        shown = {n: row for n, row in enumerate(rows) if row["weight"] > 0} if self.is_exact else {}
        return {number: self._compared(row) for number, row in shown.items()}

    def unshown(self, rows: Sequence[Row]) -> list[str]:
        """The panes that ticks should have shown, and have not."""
        ticks = {row["tick"] for row in rows if row["weight"] > 0}
        due = {tick: one.pane for tick, one in (self.verdicts or {}).items() if one.pane is not None}
        return [
            f"tick {tick}: by the rows the trigger fires ({pane.trigger}), and no pane is there"
            for tick, pane in due.items()
            if tick not in ticks
        ]

    def _compared(self, row: Row) -> Compared:
        control = self.ticks.by_number.get(row["tick"])
        if control is None or (self.stage.join is not None):
            return Compared()
        is_of_stream = control.kind in READING
        if is_of_stream and self.verdicts is not None:
            verdict = self.verdicts.get(row["tick"])
            if verdict is None or verdict.pane is None:
                return Compared({}, [f"tick {row['tick']}: a pane is there, and by the rows the trigger does not fire"])
            return self._beside(row, verdict.pane.results, _fields(row, verdict.pane))
        if is_of_stream and (self.stage.clears_by_mode or self.stage.is_mixed):
            return Compared()
        try:
            return self._beside(row, self._results(row), [])
        except NotEvaluated:
            return Compared()

    def _results(self, row: Row) -> Mapping[str, Any]:
        """Over the elements that the window of a pane held when it was made."""
        control, (start, end) = self.ticks.by_number[row["tick"]], bounds_of(row)
        inside = [m for m in self.members if m.judged.event_time is not None and start <= m.judged.event_time < end]
        if self.stage.window.FOLLOWS_PANES:
            inside = list(self.members)
        if control.kind in READING:
            added = [member.judged for member in inside if member.is_added_until(control.tick)]
            return self.contents.results(added)
        known = [one for one in control.backfilled if one.made.has(start, end)]
        if control.kind == FORGETTING and known:
            raise NotEvaluated("which late elements a batch had counted before rows were forgotten")
        made = [one for one in known if one.tick == control.tick]
        offsets, restates = (made[-1].offsets, made[-1].restates) if made else (control.offsets, False)
        return self.contents.results([member.judged for member in inside if member.is_in(offsets, restates)])

    def _beside(self, row: Row, results: Mapping[str, Any], others: list[str]) -> Compared:
        differing = [name for name, value in results.items() if not equal(value, row[name])]
        said = [f"tick {row['tick']}: {name} {self._both(name, row[name], results[name])}" for name in differing]
        return Compared(results, [*others, *said], differing)

    def _both(self, name: str, shown: Any, value: Any) -> str:
        if name.lower() in self.masked:
            return "is not what the rows give"
        return f"is {cell(shown)}, and {cell(value)} by the rows"


def _fields(row: Row, pane: Expected) -> list[str]:
    """What a pane says of itself otherwise than the rows do."""
    own = {"timing": pane.timing, "trigger": pane.trigger, "pane_index": pane.index, "is_last": pane.is_last}
    return [
        f"tick {row['tick']}: {name} is {cell(row[name])}, and {cell(value)} by the rows"
        for name, value in own.items()
        if row[name] != value
    ]
