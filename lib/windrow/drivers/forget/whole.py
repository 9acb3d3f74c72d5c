"""All that follows when rows have the reason that they are forgotten: the stages, the audits, the values of the rows.

It asks nobody whose rows they are, so that a run which was killed is gone on with.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass

from pyspark.sql import DataFrame

from windrow.compile.elements.envelope import RAW, REASON, ROW, STEP
from windrow.compile.sql.columns import call, col
from windrow.drivers.forget.examples import forget_examples
from windrow.drivers.forget.notes import KEYED, LETTERS_OF, Noted
from windrow.drivers.forget.windows.affected import Affected
from windrow.drivers.forget.windows.stage import ForgottenWindows, StageForgetting
from windrow.drivers.pipeline.pipeline import PipelineWork
from windrow.drivers.pipeline.points import point
from windrow.engine.frames import group, where
from windrow.store.delta.log.retries import ATTEMPTS, tried_again
from windrow.store.upstream.forgotten import going, take_values


@dataclass(frozen=True)
class Done:
    """By source how many rows are forgotten, and the landing step that has taken their values; and the stages."""

    rows: Mapping[str, int]
    steps: Mapping[str, int]
    stages: tuple[ForgottenWindows, ...]

    def and_then(self, later: Done) -> Done:
        """Both as one; of a stage what the later has done, or else the first."""
        rows = {name: self.rows.get(name, 0) + later.rows.get(name, 0) for name in {**self.rows, **later.rows}}
        stages = {one.stage: one for one in self.stages}
        stages |= {one.stage: one for one in later.stages if one.tick is not None or one.stage not in stages}
        return Done(rows, {**self.steps, **later.steps}, tuple(stages.values()))


@dataclass(frozen=True)
class Whole:
    """Of a pipeline; `noted` is what was written down before."""

    work: PipelineWork
    noted: Noted

    def forgotten(self) -> Done:
        """Do it, up to its `end`. Raises NotYet, and StepTaken where others were ahead each time."""
        ids = self._ids()
        if not ids and not self._has_noted():
            untouched = map(ForgottenWindows.of, self.work.stages)
            return Done({}, {}, tuple(one for one in untouched if one.whole_from is not None))
        frames = {name: rows.persist() for name, rows in ids.items()}
        try:
            numbers = {name: rows.count() for name, rows in frames.items()}
            self._project()
            stages = self._stages()
            point("forget:after_stages")
            forget_examples(self.work.spark, self.work.lake)
            point("forget:after_audits")
            steps = {name: self._take_values(name, rows) for name, rows in frames.items()}
            self._project()
            point("forget:after_sources")
        finally:
            for rows in frames.values():
                rows.unpersist()
        return Done(numbers, steps, tuple(stages))

    def end(self) -> None:
        """Discard what was written down, unless another run is at work, and needs it."""
        if not self._ids():
            self.noted.discard()

    def has_begun(self) -> bool:
        """Whether rows have the reason, or what was written down is of a person all of whose rows had it.

        Otherwise a process was killed before it gave the reason to any, and her results would be made of her rows.
        """
        return bool(self._ids()) or self.noted.all_found

    def _ids(self) -> dict[str, DataFrame]:
        """By source the rows that are being forgotten, where there are some."""
        found = {}
        for source in self.work.pipeline.sources:
            raw = self.work.raws[source.name]
            until = 0 if source.connector.is_in_place else raw.last_step(self.work.spark)
            rows = going(raw, self.work.spark, until).select(STEP, ROW) if until else None
            if rows is not None and not rows.isEmpty():
                found[source.name] = rows
        return found

    def _has_noted(self) -> bool:
        """Whether results or dead letters of the person were found by what stands in them."""
        return any(self.noted.has(item.name, what) for item in self.work.stages for what in (KEYED, LETTERS_OF))

    def _stages(self) -> list[ForgottenWindows]:
        """Every stage, behind those that it reads; again where one has begun meanwhile: it may have read the rows."""
        for _ in range(ATTEMPTS):
            begun = self._begun()
            found = self._each_stage()
            if self._begun() == begun:
                break
        return found

    def _begun(self) -> set[str]:
        """The stages that have ticked."""
        for item in self.work.stages:
            item.runner.reload()
        return {item.name for item in self.work.stages if item.runner.last is not None}

    def _each_stage(self) -> list[ForgottenWindows]:
        above: dict[str, Affected] = {}
        results: list[ForgottenWindows] = []
        with ExitStack() as stack:
            for item in [item for level in self.work.levels for item in level]:
                forgetting = StageForgetting(self.work, item, above, self.noted)
                found, result = stack.enter_context(forgetting.done())
                results.append(result)
                if found is not None:
                    above[item.name] = found
        return results

    def _project(self) -> None:
        """Make the tables of sources anew, without the rows."""
        for source in self.work.sources:
            source.project()

    def _take_values(self, name: str, ids: DataFrame) -> int:
        """The step of `raw` that takes the values of rows. Raises StepTaken where others were ahead each time."""
        raw, has_partitions = self.work.raws[name], self.work.pipeline.source(name).connector.HAS_PARTITIONS

        def taken() -> int:
            last = raw.log.last(self.work.spark)
            assert last is not None, "it has rows"
            take_values(raw, self.work.spark, last, ids, has_partitions)
            return last.step + 1

        step = tried_again(taken, lease=self.work.lease)
        point("forget:after_blank")
        return step


def unreadable_rows(work: PipelineWork, name: str) -> int:
    """The rows of a source that could not be read, and whose text is there."""
    raw = work.raws[name]
    until = raw.last_step(work.spark)
    if not until or work.pipeline.source(name).connector.is_in_place:
        return 0
    dead = where(raw.rows(work.spark, 0, until), col(REASON).is_not_null())
    return int(group(dead, (), {"rows": call("count", col(RAW))}).collect()[0]["rows"])
