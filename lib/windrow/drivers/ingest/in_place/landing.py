"""Landing of a source that is read in place: one commit for each part of its log, and a look at the rows to judge them.

There is no query and no checkpoint. Where a step ended stands in its commit, and of several processes one has each
step, so that every part lands once.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

from pyspark.sql import SparkSession

from windrow.compile.elements.envelope import QUARANTINED
from windrow.drivers.clock import clock_micros
from windrow.drivers.ingest.checkpoint_race import FRUITLESS
from windrow.drivers.ingest.in_place.origin import Next, Origin
from windrow.drivers.ingest.in_place.run import InPlaceRun
from windrow.drivers.ingest.runs import Run
from windrow.drivers.pipeline.points import point
from windrow.sources.readers import failure_of
from windrow.sources.verdicts import Rules
from windrow.spec.sources.source import Source
from windrow.store.delta.log.commits import Commit
from windrow.store.delta.log.retries import StepTaken
from windrow.store.upstream.in_place import RawInPlace, Step


@dataclass
class LandingInPlace:
    """The landing of one such source. `rules` judge each row: those of its suite that say so."""

    spark: SparkSession
    source: Source
    raw: RawInPlace
    origin: Origin
    clock: Callable[[], int] = clock_micros
    rules: Rules = ()

    def start(self) -> InPlaceRun | None:
        """Begin to land what is there now, step by step; None where there is nothing. Errors: SpecError."""
        self.origin.look(self.spark)
        last = self.raw.last(self.spark)
        found = self.origin.next(self.spark, self.raw, last)
        if found.is_far and not found.portions and last is not None:
            self._pass(last, found)
        return InPlaceRun(self.land) if found.portions else None

    def _pass(self, last: Commit, found: Next) -> None:
        """Land a step without rows. Where another process was ahead, it is not needed."""
        notes = {**found.notes, QUARANTINED: self.raw.quarantined_at(last)}
        with suppress(StepTaken):
            self.raw.land(self.spark, last.step + 1, Step(is_fresh=True), notes)

    def run(self) -> None:
        """Land all that is there now, also where another process lands the same source meanwhile."""
        run = self.start()
        if run is None:
            return
        try:
            while run.is_active:
                run.wait(_LONGEST)
        finally:
            run.stop()
        failure = self.failure(run)
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

    def land(self) -> bool:
        """Land the next step; False where nothing is left. Raises SpecError and what Spark does.

        Where another process was ahead, it has landed this one, so what is next is looked at again.
        """
        for _ in range(FRUITLESS):
            try:
                return self._land()
            except StepTaken:
                time.sleep(random.uniform(0, _LONGEST))
        return self._land()

    def _land(self) -> bool:
        last = self.raw.last(self.spark)
        found = self.origin.next(self.spark, self.raw, last)
        if not found.portions:
            return False
        number, clock = 1 if last is None else last.step + 1, self.clock()
        parts = [portion.part(number, index, clock, self.rules) for index, portion in enumerate(found.portions)]
        step = self.origin.landed(self.spark, tuple(parts))
        point("landing:before_raw")
        notes = {**found.notes, QUARANTINED: self.raw.quarantined_at(last)}
        self.raw.land(self.spark, number, step, notes)
        point("landing:after_raw")
        return True


_LONGEST = 0.5
"""Seconds, at most, before another try: of two that meet again and again each would do the work of both."""
