"""Landing of a source that is read in place: one commit for each part of its log, and a look at the rows to judge them.

There is no query and no checkpoint. Where a step ended stands in its commit, and of several processes one has each
step, so that every part lands once.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field

from pyspark.sql import SparkSession

from windrow.compile.elements.envelope import QUARANTINED
from windrow.drivers.clock import clock_micros
from windrow.drivers.ingest.checkpoint_race import FRUITLESS
from windrow.drivers.ingest.in_place.ahead import Ahead, Portion, Position
from windrow.drivers.ingest.in_place.rows import changes_action, check_kept, checked, rows_of, rules_json
from windrow.drivers.ingest.runs import Run
from windrow.drivers.pipeline.points import point
from windrow.sources.delta import delta_of
from windrow.sources.readers import failure_of
from windrow.sources.verdicts import Rules
from windrow.spec.sources.delta import DeltaSource
from windrow.spec.sources.source import Source, resolve_environment
from windrow.store.delta.foreign import ForeignTable, Snapshot
from windrow.store.delta.retries import StepTaken
from windrow.store.delta.steps import Commit
from windrow.store.upstream.in_place import Count, Part, RawInPlace, Step, counted
from windrow.store.upstream.places import path_of


@dataclass
class LandingInPlace:
    """The landing of one such source. `rules` judge each row: those of its suite that say so."""

    spark: SparkSession
    source: Source
    raw: RawInPlace
    clock: Callable[[], int] = clock_micros
    rules: Rules = ()
    _ahead: Ahead | None = field(default=None, init=False, repr=False)
    _passed: tuple[int, Position] | None = field(default=None, init=False, repr=False)

    @property
    def delta(self) -> DeltaSource:
        return delta_of(self.source)

    def start(self) -> InPlaceRun | None:
        """Begin to land what is there now, step by step; None where there is nothing. Errors: SpecError."""
        table = ForeignTable(self.spark, resolve_environment(self.delta.path))
        head = checked(self.source, self.delta, table)
        if self._ahead is None:
            self._ahead = Ahead(self.source, self.delta, table)
        last = self.raw.log.last(self.spark)
        portions, behind = self._next(head, last)
        if not portions and last is not None and behind.version - Position.of(last.notes).version >= PASSED:
            self._pass(last, behind)
        return InPlaceRun(lambda: self.land(head)) if portions else None

    def _pass(self, last: Commit, behind: Position) -> None:
        """Land a step without rows behind many versions that had none: the table will not keep their commits for ever.

        Where another process was ahead, it is not needed.
        """
        notes = {**behind.notes, QUARANTINED: self.raw.quarantined_at(last)}
        with suppress(StepTaken):
            self.raw.append(self.spark, last.step + 1, Step(is_fresh=True), notes)

    def run(self) -> None:
        """Land all that is there now, also where another process lands the same source meanwhile."""
        run = self.start()
        while run is not None and run.is_active:
            run.wait(0)
        failure = None if run is None else self.failure(run)
        if failure is not None:
            raise failure

    def failure(self, run: Run) -> Exception | None:
        """Why a landing that has ended has failed, if it has."""
        if run.failure is None:
            return None
        told = failure_of(self.source, run.failure)
        if not getattr(told, "__notes__", ()):
            told.add_note(f"while source {self.source.name} landed")
        return told

    def land(self, head: Snapshot) -> bool:
        """Land the next step, as far as `head`; False where nothing is left. Raises SpecError and what Spark does.

        Where another process was ahead, it has landed this one, so what is next is looked at again.
        """
        for _ in range(FRUITLESS):
            try:
                return self._land(head)
            except StepTaken:
                time.sleep(random.uniform(0, _LONGEST))
        return self._land(head)

    def _next(self, head: Snapshot, last: Commit | None) -> tuple[list[Portion], Position]:
        """What the step behind the last one reads. Versions without rows are passed once."""
        assert self._ahead is not None, "it has started"
        step = 0 if last is None else last.step
        start = Position(head.id, head.version, is_first=True) if last is None else Position.of(last.notes)
        if self._passed is not None and self._passed[0] == step:
            start = self._passed[1]
        portions, behind = self._ahead.portions(start, head)
        self._passed = None if portions or last is None else (step, behind)
        return portions, behind

    def _land(self, head: Snapshot) -> bool:
        last = self.raw.log.last(self.spark)
        portions, behind = self._next(head, last)
        if not portions:
            return False
        number, clock = 1 if last is None else last.step + 1, self.clock()
        parts = tuple(self._part(number, index, portion, clock) for index, portion in enumerate(portions))
        step = Step(parts, self._counted(parts), is_fresh=True)
        point("landing:before_raw")
        notes = {**behind.notes, QUARANTINED: self.raw.quarantined_at(last)}
        self.raw.append(self.spark, number, step, notes)
        point("landing:after_raw")
        return True

    def _counted(self, parts: tuple[Part, ...]) -> tuple[Count, ...]:
        """What is known of the rows of parts. Raises SpecError where the table does not keep them any more."""
        try:
            return counted(rows_of(self.spark, self.source, parts, checks=False))
        except Exception:
            check_kept(self.spark, self.source, parts)
            raise

    def _part(self, step: int, index: int, portion: Portion, clock: int) -> Part:
        assert self._ahead is not None
        action = portion.action or changes_action(self.source)
        path = path_of(action)
        name = str(portion.version) if path is None else self._ahead.table.file_name(path)
        return Part(step, index, portion.version, portion.files, name, action, clock, rules_json(self.rules))


PASSED = 50
"""So many versions without rows are passed before a commit says so."""
_LONGEST = 0.5
"""Seconds, at most, before another try: of two that meet again and again each would do the work of both."""


class InPlaceRun:
    """A landing at work, as `LandingRun` is: each wait lands a step, in the thread of whoever waits."""

    def __init__(self, land: Callable[[], bool]) -> None:
        self.failure: Exception | None = None
        self.is_active = True
        self._land = land

    def wait(self, seconds: float) -> None:
        """Land the next step, however long that takes."""
        if not self.is_active:
            return
        try:
            self.is_active = self._land()
        except Exception as failure:
            self.failure, self.is_active = failure, False

    def stop(self) -> None:
        """Land no more."""
        self.is_active = False
