"""Forget a person: their rows leave the lake, and what they were part of is made of the other rows.

Rule: docs/operations.md#forget. How: docs/design.md#forgetting.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass

from pyspark.sql import DataFrame, SparkSession

from windrow.compile.elements.envelope import RAW, REASON, ROW, STEP
from windrow.compile.sql.columns import call, col
from windrow.drivers.clock import clock_micros
from windrow.drivers.forget.affected import Affected
from windrow.drivers.forget.by_key import note_keyed
from windrow.drivers.forget.examples import forget_examples
from windrow.drivers.forget.leaving import check_can_leave
from windrow.drivers.forget.notes import KEYED, Noted
from windrow.drivers.forget.person import Person
from windrow.drivers.forget.stages import ForgottenWindows, StageForgetting
from windrow.drivers.pipeline.pipeline import PipelineWork
from windrow.drivers.pipeline.points import point
from windrow.engine.frames import group, where
from windrow.spec.pipelines.pipeline import Pipeline
from windrow.spec.sources.source import Source
from windrow.store.delta.retries import tried_again
from windrow.store.delta.rewriting import GOES
from windrow.store.upstream.raw import Raw


@dataclass(frozen=True)
class ForgottenRows:
    """What became of a source: `rows` of it are forgotten, and `unreadable` ones are left that nobody can tell of.

    `step` is the landing step that has taken their values, None where there were none, and in a dry run.
    """

    source: str
    rows: int
    unreadable: int = 0
    step: int | None = None


@dataclass(frozen=True)
class Forgotten:
    """What was forgotten of each source that has the columns of the condition, and what that was part of."""

    sources: tuple[ForgottenRows, ...]
    stages: tuple[ForgottenWindows, ...] = ()

    @property
    def rows(self) -> int:
        """Of all sources."""
        return sum(one.rows for one in self.sources)


def forget(
    pipeline: Pipeline,
    spark: SparkSession,
    where: str | None = None,
    source: str | None = None,
    unreadable: bool = False,
    leave: bool = False,
    dry_run: bool = False,
    clock: Callable[[], int] = clock_micros,
) -> Forgotten:
    """Forget the rows for which a condition over the columns of the sources is true, and `unreadable` ones if so told.

    Of one `source`, or of all that have these columns. Windows that the rows were in are made of the other rows; with
    `leave` those that have other rows stay as they are. It may run beside a stream. A run that was killed is gone on
    with by the next one, whatever its condition; without any it does that only. What has landed by then is forgotten:
    rows that land later count. Old versions of tables have the rows until `maintain` has removed them.
    Raises SpecError, NotYet, and StepTaken where others were ahead each time.
    """
    person = None if where is None else Person.of(where, unreadable)
    named = list(pipeline.sources) if source is None else [pipeline.source(source)]
    chosen = named if person is None else person.sources(named, spark)
    work = PipelineWork.open(pipeline, spark, clock=clock)
    if dry_run:
        return Forgotten(tuple(_would(work, one, person) for one in chosen))
    noted = Noted(work.spark, work.lake)
    if person is not None:
        if leave:
            check_can_leave(work)
        _finish_others(work, chosen, noted, leave)
        note_keyed(work, person, chosen, noted)
        for one in chosen:
            tried_again(lambda one=one: _give_reason(work, one, person))  # type: ignore[misc]
    return _Run(work, [one.name for one in chosen]).whole()


def _finish_others(work: PipelineWork, chosen: list[Source], noted: Noted, leave: bool) -> None:
    """One that was killed and does otherwise with results is gone on with first, as it was begun."""
    if noted.leaves != leave:
        _Run(work, [one.name for one in chosen]).whole()
    if leave:
        noted.leave()


def _would(work: PipelineWork, source: Source, person: Person | None) -> ForgottenRows:
    """What would be forgotten of a source."""
    raw = work.raws[source.name]
    until = raw.last_step(work.spark)
    if not until or source.connector.is_in_place:
        return ForgottenRows(source.name, 0)
    going = raw.going(work.spark, until).count()
    if person is None:
        return ForgottenRows(source.name, going)
    told = person.tells(raw.rows(work.spark, 0, until), source)
    return ForgottenRows(source.name, going + where(told, col(GOES)).count(), _unreadable(where(told, ~col(GOES))))


def _give_reason(work: PipelineWork, source: Source, person: Person) -> None:
    """The step of `raw` from which on the rows count no more; none where there are none. Raises StepTaken."""
    raw, spark = work.raws[source.name], work.spark
    last = raw.log.last(spark)
    if last is None or where(person.tells(raw.rows(spark, 0, last.step), source), col(GOES)).isEmpty():
        return
    raw.forget(spark, last, lambda rows: person.tells(rows, source))
    point("forget:after_raw")


def _unreadable(rows: DataFrame) -> int:
    return int(group(rows, (), {"rows": call("count", col(RAW))}).collect()[0]["rows"])


@dataclass(frozen=True)
class _Run:
    """The rest of it, over all rows that have the reason and their values; `chosen` are the sources to tell of."""

    work: PipelineWork
    chosen: Sequence[str]

    def whole(self) -> Forgotten:
        noted = Noted(self.work.spark, self.work.lake)
        ids = {name: rows for name, rows in self._ids().items() if not rows.isEmpty()}
        if not ids and not any(noted.has(item.name, KEYED) for item in self.work.stages):
            noted.discard()
            return Forgotten(tuple(ForgottenRows(name, 0, self._left(name)) for name in self.chosen))
        frames = {name: rows.persist() for name, rows in ids.items()}
        try:
            numbers = {name: rows.count() for name, rows in frames.items()}
            self._project()
            stages = self._stages(noted)
            point("forget:after_stages")
            forget_examples(self.work.spark, self.work.lake)
            point("forget:after_audits")
            steps = {name: self._blank(name, rows) for name, rows in frames.items()}
            self._project()
            noted.discard()
        finally:
            for rows in frames.values():
                rows.unpersist()
        names = [*self.chosen, *(name for name in frames if name not in self.chosen)]
        sources = (ForgottenRows(name, numbers.get(name, 0), self._left(name), steps.get(name)) for name in names)
        return Forgotten(tuple(sources), tuple(stages))

    def _ids(self) -> dict[str, DataFrame]:
        """Of each source whose rows are in the lake, the rows that go."""
        found = {}
        for source in self.work.pipeline.sources:
            raw = self.work.raws[source.name]
            until = 0 if source.connector.is_in_place else raw.last_step(self.work.spark)
            if until:
                found[source.name] = raw.going(self.work.spark, until).select(STEP, ROW)
        return found

    def _stages(self, noted: Noted) -> list[ForgottenWindows]:
        """Every stage, behind those that it reads."""
        above: dict[str, Affected] = {}
        results: list[ForgottenWindows] = []
        with ExitStack() as stack:
            for item in [item for level in self.work.levels for item in level]:
                forgetting = StageForgetting(self.work, item, above, noted)
                found, result = stack.enter_context(forgetting.done())
                results.append(result)
                if found is not None:
                    above[item.name] = found
        return results

    def _project(self) -> None:
        """Make the tables of sources anew, without the rows."""
        for source in self.work.sources:
            source.project()

    def _blank(self, name: str, ids: DataFrame) -> int:
        """The step of `raw` that takes the values of rows. Raises StepTaken where others were ahead each time."""
        raw = self.work.raws[name]

        def blanked() -> int:
            last = raw.log.last(self.work.spark)
            assert last is not None, "it has rows"
            raw.blank(self.work.spark, last, ids, self.work.pipeline.source(name).connector.HAS_PARTITIONS)
            return last.step + 1

        step = tried_again(blanked)
        point("forget:after_blank")
        return step

    def _left(self, name: str) -> int:
        """The rows of a source that could not be read, and whose text is there."""
        raw: Raw = self.work.raws[name]
        until = raw.last_step(self.work.spark)
        if not until or self.work.pipeline.source(name).connector.is_in_place:
            return 0
        return _unreadable(where(raw.rows(self.work.spark, 0, until), col(REASON).is_not_null()))
