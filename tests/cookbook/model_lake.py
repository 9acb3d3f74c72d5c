"""What the lake of a recipe holds after its commands, by the reference model: no Spark, and nothing is written."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import zip_longest
from pathlib import Path
from typing import Any

from tests.cookbook.as_stages import inputs_of, rules_of, schema_of, stages_of
from tests.cookbook.landed import NOW, Landed, batches_of, files_of
from tests.model.assign import Window
from tests.model.batch import batch
from tests.model.chain import Chain
from tests.model.elements import CLOSED, LATE, DeadLetter
from tests.model.input_clocks import InputClock
from tests.model.panes import DELETE, Pane
from tests.model.tick import Counts, Tick
from tests.names.frames import row_of, standing
from windrow.drivers.inspect.show.wanted import Wanted
from windrow.spec.pipelines.pipeline import Pipeline
from windrow.spec.stages.stage import Stage
from windrow.spec.times import INFINITY, saturating_add
from windrow.spec.transcripts.steps import TranscriptElement
from windrow.view.show import Shown

NOTHING = Counts(0, 0, 0, 0, {}, 0, 0, 0, 0)


@dataclass(frozen=True)
class Step:
    """One tick: the elements that it was given, its `now`, and what came of each stage."""

    elements: Sequence[TranscriptElement]
    now: int | None
    ticks: Mapping[str, Tick]


@dataclass
class ModelLake:
    """A lake of a pipeline: what has landed, what the stages have shown, and what is dead."""

    pipeline: Pipeline
    chain: Chain = field(init=False)
    landed: dict[str, list[Landed]] = field(init=False)
    seen: set[Path] = field(default_factory=set)
    batches: Counter[str] = field(default_factory=Counter)
    steps: list[Step] = field(default_factory=list)

    def __post_init__(self) -> None:
        first, sources = self.pipeline.sources[0], self.pipeline.sources
        weight = next((source.weight for source in sources if source.weight is not None), None)
        self.chain = Chain(
            stages_of(self.pipeline), schema_of(self.pipeline), rules_of(self.pipeline), first.size, weight
        )
        self.landed = {source.name: [] for source in sources}

    def run(self, drain: bool = False) -> None:
        """Land the files that are new, tick by tick."""
        new: dict[str, list[list[Landed]]] = {}
        for source in self.pipeline.sources:
            files = [path for path in files_of(source) if path not in self.seen]
            self.seen.update(files)
            new[source.name] = list(batches_of(source, files))
            self.batches[source.name] += len(new[source.name])
        inputs = inputs_of(self.pipeline)
        for batches in zip_longest(*new.values(), fillvalue=[]):
            elements, now = [], self.chain.now
            for name, rows in zip(new, batches, strict=True):
                self.landed[name] += rows
                now = max([now, *(row.arrival for row in rows if row.arrival != NOW)])
                (of,) = inputs[name]
                elements += [replace(row.element, input=of) for row in rows if row.reason is None]
            self.steps.append(Step(elements, now, self.chain.tick(elements, now)))
        if drain:
            for stage in self.chain.stages.values():
                for feed in stage.feeds.values():
                    if feed.upstream is None:
                        feed.clock = InputClock(clock=feed.clock.clock)
            self.steps.append(Step((), None, self.chain.tick(watermark=INFINITY)))

    # ---------------------------------------------------------------- correcting

    def quarantine(self, file: str) -> None:
        """Take the rows of a landed file out."""
        for source, rows in self.landed.items():
            self.landed[source] = [
                replace(row, reason="quarantined") if str(row.file).endswith(file) else row for row in rows
            ]

    def restate(self) -> None:
        """Recompute the expired windows that have late rows."""
        for stage in self.pipeline.stages:
            late = {letter.window for letter in self.dead(stage.name) if letter.reason in (LATE, CLOSED)}
            self._recompute(stage, lambda window, late=late: tuple(window) in late)

    def backfill(self, start: int, end: int) -> None:
        """Recompute the expired windows that start in a span."""
        for stage in self.pipeline.stages:
            self._recompute(stage, lambda window: start <= window.start < end)

    def _recompute(self, stage: Stage, is_meant: Callable[[Window], bool]) -> None:
        """Replace what differs from a batch over all rows that are not dead."""
        running = self.chain.stages[stage.name]
        (rows,) = self.landed.values()
        alive = [row.element for row in rows if row.reason is None]
        clock = replace(running.clock, tick=len(self.steps) + 1)
        made = batch(running.stage, schema_of(self.pipeline), alive).panes
        right = {(pane.key, pane.window): pane for pane in made if is_meant(pane.window)}
        shown = {(pane.key, pane.window): pane for pane in standing(stage, self.panes(stage.name))}
        panes: list[Pane] = []
        for place in sorted({*right, *(one for one in shown if is_meant(one[1]))}, key=repr):
            there, new = shown.get(place), right.get(place)
            if clock.watermark_after < saturating_add(place[1].end, stage.allowed_lateness):
                continue
            if there is not None and (new is None or new.aggregates != there.aggregates):
                panes.append(there.retracted(DELETE, clock))
            if new is not None and (there is None or new.aggregates != there.aggregates):
                index = 0 if there is None else there.index + 1
                panes.append(replace(new, timing=LATE, index=index, trigger="backfill", tick=clock.tick))
        ticks = {stage.name: Tick(clock, running.state, tuple(panes), (), NOTHING)}
        self.steps.append(Step((), None, ticks))

    # ---------------------------------------------------------------- looking

    def panes(self, stage: str) -> list[Pane]:
        """The rows of `panes`, in order."""
        return [pane for step in self.steps if stage in step.ticks for pane in step.ticks[stage].panes]

    def dead(self, stage: str) -> list[DeadLetter]:
        """Its dead letters."""
        return [letter for step in self.steps if stage in step.ticks for letter in step.ticks[stage].dead]

    def counts(self, stage: str) -> list[Counts]:
        """What each tick counted."""
        return [step.ticks[stage].counts for step in self.steps if stage in step.ticks]

    def dead_of_source(self, source: str) -> Counter[str]:
        """Rows that were dead when they landed, by reason."""
        return Counter(row.reason for row in self.landed[source] if row.reason is not None)

    def show(self, stage: str, panes: bool, keys: Mapping[str, str], at: int | None, limit: int) -> str:
        """What `windrow show` prints."""
        wanted = Wanted(self.pipeline.stage(stage), panes, keys, at, limit)
        found = self.panes(stage) if panes else standing(wanted.stage, self.panes(stage))
        rows = [row_of(pane) for pane in found if _is_wanted(pane, wanted)]
        rows.sort(key=lambda row: [_order(row[name]) for name in wanted.order])
        return Shown(
            stage=stage,
            keys=list(wanted.stage.keys),
            results=list(wanted.stage.result_columns),
            columns=wanted.columns,
            rows=[tuple(_as_a_table_has_it(row[name]) for name in wanted.columns) for row in rows[-limit:]],
            total=len(rows),
            panes=panes,
        ).text(200)


def _is_wanted(pane: Pane, wanted: Wanted) -> bool:
    texts = {name: "null" if pane.keys[name] is None else str(pane.keys[name]) for name in wanted.keys}
    holds = wanted.at is None or pane.window.start <= wanted.at < pane.window.end
    return holds and texts == dict(wanted.keys)


def _order(value: Any) -> tuple[bool, Any]:
    """Nulls come first."""
    return (value is not None, 0 if value is None else value)


def _as_a_table_has_it(value: Any) -> Any:
    """A struct is a tuple there."""
    match value:
        case Mapping():
            return tuple(_as_a_table_has_it(one) for one in value.values())
        case list() | tuple():
            return [_as_a_table_has_it(one) for one in value]
    return value
