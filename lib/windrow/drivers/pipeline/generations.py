"""In which generation each stage of a pipeline is opened: the one that is there, a new one, or the one before it.

Rule: docs/operations.md#changed-stages. A new generation is built beside the old one. Until the tables show the new
one, the pipeline file of the old one can be run as well: a stage that is as it was then goes on in its generation.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pyspark.sql import SparkSession

from windrow.drivers.pipeline.points import point
from windrow.spec.errors import SpecError
from windrow.spec.pipelines.fingerprint import changes, fix_of, is_of_source, is_rebuild, source_of
from windrow.spec.sources.source import Source
from windrow.spec.stages.stage import Stage
from windrow.spec.times import format_time
from windrow.store.delta.floors import Floors, time_floor
from windrow.store.delta.location import Lake
from windrow.store.delta.log.step_log import StepLog
from windrow.store.journal.generations import Generations
from windrow.store.projections.tables import shown_generation
from windrow.store.reading.generations import Generation


@dataclass
class OpenedGenerations:
    """The generations of the stages that are opened one after the other, and what is to be recorded of them."""

    spark: SparkSession
    lake: Lake
    log: Generations
    from_start: bool
    _known: Mapping[str, Generation] = field(init=False)
    _new: dict[str, Generation] = field(default_factory=dict)
    _rebuilt: list[tuple[Stage, Mapping[str, Source | Stage]]] = field(default_factory=list)
    """Stages that begin anew, with what they read."""
    _before: dict[str, Generation] = field(default_factory=dict)
    """Of stages whose newest generation was recorded, and has no tick yet, the one before it."""

    def __post_init__(self) -> None:
        self._known = self.log.all(self.spark)

    def number(self, stage: Stage, read: Mapping[str, Source | Stage], fingerprint: Mapping[str, Any]) -> int:
        """The number of the stage's generation. A new one of a stage that it reads makes a new one of it.

        Errors: SpecError where it means something else than before, unless it is built from the start, and where rows
        were removed from which it would be.
        """
        known = self._known.get(stage.name)
        if known is None:
            return self._begun(stage, Generation(1, fingerprint))
        changed = changes(known.fingerprint, fingerprint)
        if changed and not self.from_start:
            shown = self._shown(stage, known, fingerprint)
            if shown is not None:
                return shown.number
        from_start = self.from_start or (bool(changed) and all(map(is_rebuild, changed)))
        self._check(stage, changed, from_start)
        if from_start:
            self._check_kept(stage, read)
            self._rebuilt.append((stage, read))
            return self._begun(stage, Generation(known.number + 1, fingerprint))
        if known.number > 1 and not self._has_ticks(stage, known.number):  # nobody may have looked again
            self._rebuilt.append((stage, read))
            number = shown_generation(self.spark, self.lake, stage.name) or known.number - 1
            before = self.log.older(self.spark, stage.name, number)
            self._before |= {} if before is None else {stage.name: before}
        if known.fingerprint != fingerprint:
            return self._begun(stage, Generation(known.number, fingerprint))
        return known.number

    def record(self) -> None:
        """Record what is new of the stages that were opened.

        Maintenance removes no rows once it knows of a new generation; one that had looked before has said so before it
        removes them, so that is looked at again. Raises SpecError then, and StepTaken where another run records too.
        """
        if self._new:
            self.log.record(self.spark, self._new)
        if self._rebuilt:
            point("generation:after_record")
        try:
            for one, read in self._rebuilt:
                self._check_kept(one, read)
        except SpecError:
            before = {stage: self._known[stage] for stage in self._new if stage in self._known} | self._before
            if before:
                self.log.record(self.spark, before)
            raise
        self._new.clear()

    def _has_ticks(self, stage: Stage, number: int) -> bool:
        journal = StepLog(*self.lake.journal(stage.name, number))
        return journal.location.exists(self.spark) and journal.last(self.spark) is not None

    def _begun(self, stage: Stage, generation: Generation) -> int:
        self._new[stage.name] = generation
        return generation.number

    def _shown(self, stage: Stage, known: Generation, fingerprint: Mapping[str, Any]) -> Generation | None:
        """The generation that the tables still show, if that is an older one and means what the stage means."""
        number = shown_generation(self.spark, self.lake, stage.name)
        if number is None or number >= known.number:
            return None
        older = self.log.older(self.spark, stage.name, number)
        return older if older is not None and not changes(older.fingerprint, fingerprint) else None

    def _check(self, stage: Stage, changed: list[str], from_start: bool) -> None:
        moved = [line for line in changed if is_of_source(line)]
        if moved:
            rule = "has landed its rows under another fingerprint, which a rebuild from raw cannot change"
            source = source_of(stage, moved[0])
            hint = _hint(moved, "take a new lake path (--set lake=...)")
            raise SpecError(f"sources.{source}", rule, "; ".join(moved), hint)
        if changed and not from_start:
            hint = "take a new lake path (--set lake=...), or run with --from-start: a new generation, rebuilt from raw"
            rule = "means something else than when it last ran"
            raise SpecError(f"stages.{stage.name}", rule, "; ".join(changed), _hint(changed, hint))

    def _check_kept(self, stage: Stage, read: Mapping[str, Source | Stage]) -> None:
        floors = Floors.of(self.lake).all(self.spark)
        for one in read.values():
            floor = floors.get(time_floor(one.name, "raw"))
            if isinstance(one, Source) and floor is not None:
                rule = f"cannot be rebuilt: raw of {one.name} has no rows before {format_time(floor)}"
                hint = "take a new lake path (--set lake=...): there the stage begins with what is read from now on"
                raise SpecError(f"stages.{stage.name}", rule, None, hint)


def _hint(changed: list[str], hint: str) -> str:
    """With the fixes of single changes in front, where there are any."""
    fixes = [fix for fix in map(fix_of, changed) if fix is not None]
    return ", or ".join([*fixes, hint])
