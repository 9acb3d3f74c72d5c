"""What a stage reads, input by input, as far as it may concern one window of one key."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from windrow.compile.elements.envelope import OFFSET
from windrow.drivers.inspect.explain.computing.following import looked_at
from windrow.drivers.inspect.explain.question import Bounds, Question
from windrow.drivers.inspect.explain.reading.elements import Gathering, Masks, Member, as_rows
from windrow.drivers.inspect.explain.reading.judging import Judge, Judged
from windrow.drivers.inspect.explain.reading.rows import PaneLog, RawLog, Rows, between, bounds_of
from windrow.drivers.inspect.explain.reading.ticks import Ticks
from windrow.spec.pipelines.masks import masks_of
from windrow.spec.pipelines.pipeline import Pipeline, may_take_back
from windrow.spec.sources.source import Source
from windrow.spec.stages.cogroups import by_input
from windrow.spec.stages.reads import columns_derived_from, reads_one_of
from windrow.spec.stages.stage import Stage
from windrow.spec.times import INFINITY, MINUS_INFINITY
from windrow.spec.words import many
from windrow.store.delta.location import Lake
from windrow.store.reading.tables import Condition, Tables
from windrow.view.explain.life import IN_RESULT


@dataclass(frozen=True)
class Inputs:
    """The inputs of a stage, as far as a question is about them.

    `by_letters`: only dead letters say which elements were late.
    """

    tables: Tables
    pipeline: Pipeline
    lake: Lake
    question: Question
    ticks: Ticks
    panes_of: Callable[[Stage], PaneLog]
    by_letters: bool

    @cached_property
    def alone(self) -> Mapping[str, Stage]:
        """Each input as a stage that reads it alone."""
        return by_input(self.question.stage)

    @cached_property
    def read(self) -> Mapping[str, Source | Stage]:
        return self.pipeline.upstreams_of(self.question.stage)

    @cached_property
    def masks(self) -> Mapping[str, Masks]:
        found = {}
        for name, alone in self.alone.items():
            read = self.read[name]
            columns = columns_derived_from(alone, masks_of(self.pipeline, read))
            taken = {n for n, one in alone.aggregates.items() if any(reads_one_of(e, columns) for e in one.expressions)}
            hides = isinstance(read, Source) and read.hides_partitions
            found[name] = Masks(frozenset(columns), frozenset(taken), hides)
        return found

    @property
    def are_weighted(self) -> bool:
        """Whether elements can be taken back."""
        return any(may_take_back(read) for read in self.read.values())

    @cached_property
    def judges(self) -> Mapping[str, Judge]:
        return {name: self._judge(name, alone, self.read[name]) for name, alone in self.alone.items()}

    @property
    def value_kinds(self) -> Mapping[str, str]:
        """The types of what the aggregates take, by their names."""
        return {name: kind for judge in self.judges.values() for name, kind in judge.value_kinds.items()}

    @property
    def decide(self) -> bool:
        """Whether it is known of all rows so far whether they are elements."""
        return all(judge.decides for judge in self.judges.values())

    @property
    def unknown(self) -> list[str]:
        """What could not be evaluated, and which rows are not in the lake."""
        elsewhere = [
            f"the rows of source {self.read[name].name} stay where they are (read in place), so they are not listed"
            for name, raw in self.raw.items()
            if raw.are_elsewhere
        ]
        return [*elsewhere, *(what for judge in self.judges.values() for what in judge.unknown)]

    @cached_property
    def raw(self) -> Mapping[str, RawLog]:
        """The raw logs of the inputs that are sources."""
        return {
            name: RawLog.of(self.tables, self.lake, read.name)
            for name, read in self.read.items()
            if isinstance(read, Source)
        }

    def members(self, window: Bounds | None, near: Bounds, until: int) -> Iterator[Member]:
        """The rows of the key that concern a window: those in its time, and dead ones whose time nobody knows.

        `near` is the time of the window, or that in which it might be; `until` when it had expired.
        """

        def holds(judged: Judged) -> bool:
            if self.question.stage.window.FOLLOWS_PANES:
                return bounds_of(judged.row) == window
            assert judged.event_time is not None
            return near[0] <= judged.event_time < near[1]

        for name, alone in self.alone.items():
            gathering = Gathering(
                name, self.read[name].name, self.judges[name], self.question, self.ticks, holds, self.by_letters
            )
            yield from gathering.members(self._rows(name, alone, near).rows, window)
            if name in self.raw:
                dead = self.raw[name].dead(alone, self.question, (near[0], until))
                yield from gathering.members([row for row in dead.rows if row["_raw"] is None], window)

    def unreadable(self, near: Bounds, until: int) -> list[str]:
        """Rows that arrived in the time of the window and could not be read at all: nobody knows their key."""
        if not self.question.stage.keys:
            return []
        said = []
        for name, raw in self.raw.items():
            rows = [row for row in raw.dead(self.alone[name], self.question, (near[0], until)).rows if row["_raw"]]
            if rows:
                files = ", ".join(sorted({str(row[OFFSET]) for row in rows})[:3])
                verb = "that arrived meanwhile could not be read, so the key is not known"
                said.append(f"{many(len(rows), 'row')} of source {self.read[name].name} {verb}: {files}")
        return said

    def times_of_key(self) -> list[int]:
        """The event times of all elements of the key that were in time, as far as rows are in the lake."""
        window = MINUS_INFINITY, INFINITY
        found = self.members(window, window, MINUS_INFINITY)
        return [m.judged.event_time for m in found if m.place == IN_RESULT and m.judged.event_time is not None]

    def inherited(self, question: Question) -> list[Bounds]:
        """The windows of the panes of the key that hold a time, where a stage keeps those of its panes."""
        found: list[Bounds] = []
        for name, judge in self.judges.items():
            log = self._panes(name)
            at = Condition("window_start", "<=", question.at), Condition("window_end", ">", question.at)
            rows = as_rows(log.rows(*at), self.read[name].name).rows
            judged = [one for row in rows for one in judge.judged(row)]
            found += [bounds_of(one.row) for one in judged if one.key is not None and question.means(one.key)]
        return found

    def _rows(self, name: str, alone: Stage, near: Bounds) -> Rows:
        if name in self.raw:
            return self.raw[name].rows(alone, self.question, near)
        log = self._panes(name)
        if alone.window.FOLLOWS_PANES and near != (MINUS_INFINITY, INFINITY):
            conditions = [Condition("window_start", "=", near[0]), Condition("window_end", "=", near[1])]
        else:
            conditions = between("event_time", near)
        return as_rows(log.rows(*conditions), self.read[name].name)

    def _panes(self, name: str) -> PaneLog:
        read = self.read[name]
        assert isinstance(read, Stage)
        return self.panes_of(read)

    def _judge(self, name: str, alone: Stage, read: Source | Stage) -> Judge:
        looked = looked_at(self.question.stage)
        if isinstance(read, Stage):
            return Judge(alone, self._panes(name).kinds, looked, "weight")
        return Judge(alone, self.raw[name].kinds, looked, read.weight, read.size, read.max_future)
