"""The life of one window, put together: which window it is, what it got, what it showed, and what is otherwise."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from windrow.compile.windows.base import CompiledWindows
from windrow.compile.windows.registry import compile_windows
from windrow.drivers.inspect.explain.chain import Chain
from windrow.drivers.inspect.explain.computing.contents import Contents
from windrow.drivers.inspect.explain.computing.following import Verdict, Window
from windrow.drivers.inspect.explain.computing.panes import Comparison, life_panes
from windrow.drivers.inspect.explain.question import Bounds, Question, chosen
from windrow.drivers.inspect.explain.reading.elements import Member, life_element
from windrow.drivers.inspect.explain.reading.inputs import Inputs
from windrow.drivers.inspect.explain.reading.letters import Told, letters_of, told
from windrow.drivers.inspect.explain.reading.rows import PaneLog, Row
from windrow.drivers.inspect.explain.reading.ticks import Ticks, expiry_of
from windrow.drivers.inspect.explain.telling import Telling, corrections, missing, rules
from windrow.drivers.inspect.waiting.holding import Holding
from windrow.spec.errors import SpecError
from windrow.spec.evaluation.kinds import NotEvaluated
from windrow.spec.pipelines.masks import masks_of
from windrow.spec.pipelines.pipeline import Pipeline
from windrow.spec.times import INFINITY, MINUS_INFINITY, saturating_add
from windrow.spec.words import many
from windrow.store.delta.location import Lake
from windrow.store.reading.generations import Generation, newest_generations
from windrow.store.reading.tables import Tables
from windrow.view.explain.life import Life, LifeElement, LifePane, WatermarkPoint

_REBUILT = "ask again when the run that makes it has reached the end of its input"


@dataclass(frozen=True)
class Explainer:
    """A question, and the tables that can answer it."""

    tables: Tables
    pipeline: Pipeline
    lake: Lake
    question: Question
    generations: Mapping[str, Generation]

    @classmethod
    def of(cls, tables: Tables, pipeline: Pipeline, question: Question) -> Explainer:
        """Errors: SpecError where the stage has not run in the lake, or its tables show an older generation."""
        lake = Lake.of(pipeline.lake)
        generations = newest_generations(tables, lake.internal("generations"))
        if question.stage.name not in generations:
            hint = "windrow run, or --set lake=..."
            raise SpecError(f"stages.{question.stage.name}", "has not run in this lake", pipeline.lake, hint)
        made = cls(tables, pipeline, lake, question, generations)
        shown, newest = made.chain.shown(question.stage).generation, generations[question.stage.name].number
        if shown != newest:
            rule = f"is made anew (generation {newest}), and its tables still show generation {shown}"
            raise SpecError(f"stages.{question.stage.name}", rule, None, _REBUILT)
        return made

    def life(self) -> Life:
        """All that is known of the window."""
        window, others = self._window()
        near = window or self._near
        members, found = self._members(window, near)
        rows = self._rows(window)
        key = self._key(rows, members)
        contents = Contents(self.question.stage, self.inputs.value_kinds, key, self._result_kinds)
        verdicts, unfollowed = self._followed(window, members, contents)
        comparison = Comparison(
            self.question.stage,
            self.ticks,
            members,
            contents,
            self._masked,
            verdicts,
            is_exact=self._holds_all and self.inputs.decide,
        )
        compared = comparison.of(rows)
        elements = [life_element(m, self.inputs.masks[m.input], found.letters.get(n)) for n, m in enumerate(members)]
        panes = list(life_panes(self.question.stage, rows, self.ticks, self._masked, compared))
        telling = Telling(
            self.question.stage, near, self.ticks, Holding(self.pipeline, self.question.stage), members, rows, verdicts
        )
        differences = [words for one in compared.values() for words in one.differences]
        unread = self.inputs.unreadable(near, self._until(near))
        return Life(
            pipeline=self.pipeline.pipeline,
            stage=self.question.stage.name,
            key={name: "***" if name.lower() in self._masked else value for name, value in key.items()},
            at=self.question.at,
            window=window,
            generation=self.generations[self.question.stage.name].number,
            tick=0 if self.ticks.last is None else self.ticks.last.tick,
            watermark=MINUS_INFINITY if self.ticks.last is None else self.ticks.last.clock.watermark,
            rules=rules(self.question.stage),
            others=others,
            elements=elements,
            ticks=list(telling.life_ticks()),
            panes=panes,
            watermarks=list(self._watermarks(elements, panes, near)),
            corrections=corrections(self.ticks, near, rows, elements),
            upstream=self.chain.upstream(members),
            behind=self.chain.behind(self.question.stage, rows),
            missing=[*self._no_window(window), *missing(members, elements, self.inputs.decide), *unread],
            checked=self._checked(elements, panes, verdicts),
            differences=[*found.differences, *differences, *comparison.unshown(rows)],
            unknown=[*self.inputs.unknown, *contents.unknown, *unfollowed],
            clears=self.question.stage.is_discarding,
            decided=self.inputs.decide,
        )

    # ---------------------------------------------------------------- which window

    def _window(self) -> tuple[Bounds | None, list[Bounds]]:
        """The window that is meant, and the others of the key that hold the time."""
        known = self._compiled.windows_holding(self.question.at) if self._compiled is not None else None
        holding = known if known is not None else self._shown_or_formed()
        if self.question.bounds is not None:
            holding = [self.question.bounds, *holding]
        if not holding:
            return None, []
        window = self.question.bounds or chosen(holding, self.question.at)
        return window, [bounds for bounds in holding if bounds != window]

    def _shown_or_formed(self) -> list[Bounds]:
        """Windows that the time alone does not say: those that stand, or those that the elements of the key make."""
        at = self.question.at
        shown = [bounds for bounds in self.panes.holding(self.question) if self._stands(bounds)]
        if shown:
            return shown
        if self._compiled is None:
            return sorted({b for b in self.inputs.inherited(self.question) if b[0] <= at < b[1]})
        formed = self._compiled.windows_among(self.inputs.times_of_key())
        return [bounds for bounds in formed or [] if bounds[0] <= at < bounds[1]]

    def _stands(self, bounds: Bounds) -> bool:
        """Whether a window has not been retracted for good, as a session is that has become part of another."""
        rows = self.panes.of_window(self.question.means, bounds)
        return bool(rows) and rows[-1]["change"] != "delete"

    @property
    def _near(self) -> Bounds:
        """Where one looks for rows when there is no window."""
        longest = 0 if self._compiled is None else self._compiled.longest
        return saturating_add(self.question.at, -longest), saturating_add(self.question.at, longest + 1)

    @cached_property
    def _compiled(self) -> CompiledWindows | None:
        """The windows in time; null where they are those of panes."""
        window = self.question.stage.window
        return None if window.FOLLOWS_PANES else compile_windows(window)

    @property
    def _holds_all(self) -> bool:
        return self._compiled is None or self._compiled.hold_all_between

    @property
    def _by_letters(self) -> bool:
        """Whether only the dead letters say which elements were late: windows have merged since."""
        merges = self._compiled is not None and self._compiled.late_span == 0
        return merges and self.question.stage.window.depends_on_others

    # ---------------------------------------------------------------- what it got and showed

    @cached_property
    def inputs(self) -> Inputs:
        panes_of = self.chain.panes
        return Inputs(self.tables, self.pipeline, self.lake, self.question, self.ticks, panes_of, self._by_letters)

    @cached_property
    def panes(self) -> PaneLog:
        return self.chain.panes(self.question.stage)

    @cached_property
    def chain(self) -> Chain:
        return Chain(self.tables, self.pipeline, self.lake, self.generations)

    @property
    def ticks(self) -> Ticks:
        return self.chain.ticks(self.question.stage)

    def _members(self, window: Bounds | None, near: Bounds) -> tuple[Sequence[Member], Told]:
        """The rows of the key that concern the window, with their dead letters."""
        members = list(self.inputs.members(window, near, self._until(near)))
        members.sort(key=lambda m: (m.step, m.judged.event_time or 0))
        letters = letters_of(self.chain.shown(self.question.stage).letters, self.panes.until, near)
        of_pairs = not self.question.stage.window.depends_on_others and self._holds_all
        found = told(members, letters, window, self._by_letters, of_pairs)
        return found.members, found

    def _rows(self, window: Bounds | None) -> list[Row]:
        if window is None:
            return []
        return self.panes.of_window(self.question.means, window, overlapping=self._by_letters)

    def _until(self, near: Bounds) -> int:
        """The processing time by which the window had expired; the newest where it has not."""
        expiry = expiry_of(self.question.stage, near)
        for control in self.ticks.controls:
            if control.clock.watermark >= expiry:
                return control.clock.now
        return INFINITY

    def _key(self, rows: Sequence[Row], members: Sequence[Member]) -> dict[str, Any]:
        """The values of the key: as they are shown, or as rows give them; else the texts."""
        keys = [{name: row[name] for name in self.question.stage.keys} for row in rows[:1]]
        keys += [dict(member.judged.key) for member in members if member.judged.key is not None][:1]
        return keys[0] if keys else dict(self.question.keys)

    @property
    def _result_kinds(self) -> Mapping[str, str]:
        """The types of keys and results, where the stage has shown something."""
        return self.panes.kinds

    @cached_property
    def _masked(self) -> frozenset[str]:
        return masks_of(self.pipeline, self.question.stage)

    def _followed(
        self, window: Bounds | None, members: Sequence[Member], contents: Contents
    ) -> tuple[dict[int, Verdict] | None, list[str]]:
        """What each tick of the stream should have done, by its number; or why that is not said."""
        if not self.inputs.decide:
            return None, ["what panes should have been shown, and with which results: only Spark can tell the elements"]
        if window is None or not self._holds_all or self.question.stage.window.depends_on_others:
            why = "which panes its trigger should have shown: that is computed only for windows that stay as they are"
            return None, [] if window is None else [why]
        if any(not one.streamed for _, one in self.ticks.backfills(window)):
            return None, []
        if self.ticks.forgetting is not None:
            tick = self.ticks.forgetting.tick
            return None, [f"which panes its trigger should have shown: tick {tick} has forgotten rows since"]
        try:
            return self._verdicts(window, members, contents), []
        except NotEvaluated as what:
            return None, [f"what the trigger knew: {what}"]

    def _verdicts(self, window: Bounds, members: Sequence[Member], contents: Contents) -> dict[int, Verdict]:
        followed = Window(self.question.stage, window, contents, self.inputs.are_weighted)
        waiting = [member for member in members if member.is_added_until(INFINITY)]
        found: dict[int, Verdict] = {}
        for control in self.ticks.following():
            added = [member.judged for member in waiting if member.is_added_until(control.tick)]
            waiting = [member for member in waiting if not member.is_added_until(control.tick)]
            verdict = followed.after(control, added)
            if verdict is not None:
                found[control.tick] = verdict
                if control.clock.watermark >= expiry_of(self.question.stage, window):
                    break
        return found

    # ---------------------------------------------------------------- what is said of it

    def _watermarks(
        self, elements: Sequence[LifeElement], panes: Sequence[LifePane], near: Bounds
    ) -> Iterator[WatermarkPoint]:
        """From the tick before the first that concerns the window to the one in which it expires."""
        ticks = [one.tick for one in elements if one.tick is not None] + [pane.tick for pane in panes]
        if not ticks:
            return
        expiry = expiry_of(self.question.stage, near)
        for control in self.ticks.controls:
            if control.tick < min(ticks) - 1 or control.clock.now in (INFINITY, MINUS_INFINITY):
                continue
            if control.tick > max(ticks) and control.watermark_before >= expiry:
                return
            yield WatermarkPoint(control.clock.now, control.clock.watermark, control.tick)

    def _no_window(self, window: Bounds | None) -> list[str]:
        return ["no window of this key holds the time"] if window is None else []

    def _checked(
        self,
        elements: Sequence[LifeElement],
        panes: Sequence[LifePane],
        verdicts: Mapping[int, Verdict] | None,
    ) -> list[str]:
        """What was computed from the rows and compared."""
        if not self.inputs.decide:
            return []
        computed = [pane for pane in panes if pane.computed]
        names = sorted({name for pane in computed for name in pane.computed})
        counted = sum(element.is_counted for element in elements)
        said = [f"{many(counted, 'element')} in the result, of {many(len(elements), 'row')} of the key"]
        if computed:
            said.append(f"{', '.join(names)} of {many(len(computed), 'pane')}, computed again from the rows")
        if verdicts is not None:
            said.append(
                f"timing, trigger, index and last of every pane of a stream, over {many(len(verdicts), 'tick')}"
            )
        return said
