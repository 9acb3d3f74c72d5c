"""Forget a person: their rows leave the lake, and what they were part of is made of the other rows.

Rule: docs/operations.md#forget. How: docs/design.md#forgetting.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from pyspark.sql import DataFrame, SparkSession

from windrow.compile.elements.envelope import RAW, ROW, STEP
from windrow.compile.sql.columns import call, col
from windrow.drivers.clock import clock_micros
from windrow.drivers.forget import refusals
from windrow.drivers.forget.notes import Noted
from windrow.drivers.forget.person import Person
from windrow.drivers.forget.unnamed import unnamed_owners
from windrow.drivers.forget.whole import Done, Whole, unreadable_rows
from windrow.drivers.forget.windows.by_key import note_keyed
from windrow.drivers.forget.windows.leaving import check_can_leave
from windrow.drivers.forget.windows.stage import ForgottenWindows
from windrow.drivers.inspect.reports.again import PagesAgain, write_again
from windrow.drivers.pipeline.pipeline import PipelineWork
from windrow.drivers.pipeline.points import point
from windrow.engine.frames import group, where
from windrow.engine.partitions import choose_partitions
from windrow.spec.errors import NotYet, SpecError
from windrow.spec.pipelines.pipeline import Pipeline
from windrow.spec.sources.source import Source
from windrow.store.delta.copy_on_write import GOES
from windrow.store.delta.log.retries import tried_again
from windrow.store.upstream.forgotten import give_reason, going


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
    """What was forgotten of each source that has the columns of the condition, and what that was part of.

    `unnamed` are folders of the lake that may have tables, and that no source or stage of the pipeline has: nothing is
    forgotten there. `pages` are those that were written again, or left.
    """

    sources: tuple[ForgottenRows, ...]
    stages: tuple[ForgottenWindows, ...] = ()
    unnamed: tuple[str, ...] = ()
    pages: PagesAgain = field(default_factory=PagesAgain)

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
    pages: Sequence[str] = (),
    typed: str = "FILE",
    clock: Callable[[], int] = clock_micros,
) -> Forgotten:
    """Forget the rows for which a condition over the columns of the sources is true, and `unreadable` ones if so told.

    Of one `source`, or of all that have these columns. Windows that the rows were in are made of the other rows; with
    `leave` those that have other rows stay as they are. It may run beside a stream, but not beside another forgetting.
    A run that was killed when it had marked rows is gone on with by the next one, whatever its condition; without any
    it does that only. What has landed by then is forgotten: rows that land later count. Old versions of tables have the
    rows until `maintain` has removed them. `pages` are folders, or URIs, with pages of runs: those of the pipeline are
    written again, and name it as `typed`. Raises SpecError, NotYet, and StepTaken where others were ahead each time.
    """
    if where is None and (unreadable or leave):
        raise SpecError("unreadable" if unreadable else "leave", "must come with where", None, "whose rows?")
    person = None if where is None else Person.of(where, unreadable)
    named = list(pipeline.sources) if source is None else [pipeline.source(source)]
    chosen = named if person is None else person.sources(named, spark)
    work = PipelineWork.open(pipeline, spark, clock=clock)
    choose_partitions(work.spark, work.spark, is_batch=True)
    if person is not None:
        refusals.check(work, person, {one.name: one for one in chosen})
        if leave:
            check_can_leave(work)
    if dry_run:
        return Forgotten(tuple(_would(work, one, person) for one in chosen), (), unnamed_owners(work))
    noted = Noted(work.spark, work.lake)
    if noted.is_there and not Whole(work, noted).has_begun():
        noted.discard()
        if person is None:
            rule = "has no forgetting to go on with: the one that was killed had marked no row yet, or was done"
            raise NotYet("lake", rule, None, "run it again with its --where")
    first = Done({}, {}, ())
    if person is not None:
        if noted.is_there or Whole(work, noted).has_begun():  # one that was killed is finished first, as it began
            first = Whole(work, noted).forgotten()
            Whole(work, noted).end()
        if leave:
            noted.leave()
        note_keyed(work, person, chosen, noted)
        point("forget:after_keyed")
        for one in chosen:
            tried_again(lambda one=one: _give_reason(work, one, person), lease=work.lease)  # type: ignore[misc]
        noted.say_all_found()
    done = first.and_then(Whole(work, noted).forgotten())
    again = write_again(pipeline, work.spark, pages, typed)
    point("forget:after_pages")
    Whole(work, noted).end()
    names = dict.fromkeys([*(one.name for one in chosen), *done.rows])
    rows = [ForgottenRows(n, done.rows.get(n, 0), unreadable_rows(work, n), done.steps.get(n)) for n in names]
    return Forgotten(tuple(rows), done.stages, unnamed_owners(work), again)


def _would(work: PipelineWork, source: Source, person: Person | None) -> ForgottenRows:
    """What would be forgotten of a source."""
    raw = work.raws[source.name]
    until = raw.last_step(work.spark)
    if not until or source.connector.is_in_place:
        return ForgottenRows(source.name, 0)
    begun = going(raw, work.spark, until).count()
    if person is None:
        return ForgottenRows(source.name, begun)
    told = person.tells(raw.rows(work.spark, 0, until), source)
    left = group(where(told, ~col(GOES)), (), {"rows": call("count", col(RAW))}).collect()[0]["rows"]
    return ForgottenRows(source.name, begun + where(told, col(GOES)).count(), int(left))


def _give_reason(work: PipelineWork, source: Source, person: Person) -> None:
    """The step of `raw` from which on the rows count no more; none where there are none. Raises StepTaken."""
    raw, spark = work.raws[source.name], work.spark
    last = raw.log.last(spark)
    if last is None:
        return
    ids = _ids(person, raw.rows(spark, 0, last.step), source).persist()
    try:
        if ids.isEmpty():
            return
        point("forget:before_raw")
        give_reason(raw, spark, last, ids)
    finally:
        ids.unpersist()
    point("forget:after_raw")


def _ids(person: Person, rows: DataFrame, source: Source) -> DataFrame:
    return where(person.tells(rows, source), col(GOES)).select(STEP, ROW)
