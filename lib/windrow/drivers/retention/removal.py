"""Rows that are older than a pipeline keeps them, and that no window needs, are removed. It is maintenance: no step."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from pyspark.sql import SparkSession

from windrow.compile.elements.envelope import ARRIVAL_TIME, EVENT_TIME, STEP
from windrow.compile.sql.columns import Column, bigint, call, coalesce, col
from windrow.drivers.forget.unfinished import check_finished
from windrow.drivers.pipeline.pipeline import PipelineWork
from windrow.drivers.pipeline.points import point
from windrow.drivers.pipeline.stage import StageWork
from windrow.drivers.retention.kept import whole_from
from windrow.drivers.retention.needs import Need, needs_of
from windrow.engine.frames import where
from windrow.spec.errors import NotYet
from windrow.spec.pipelines.retention import Retention
from windrow.spec.stages.keys import LogColumn
from windrow.spec.times import INFINITY, MINUS_INFINITY, format_time
from windrow.store.delta.floors import Floors, time_floor
from windrow.store.delta.location import Location
from windrow.store.delta.upkeep import is_done
from windrow.store.journal.control import DEAD_LETTER


def removed_by_age(work: PipelineWork, spark: SparkSession, now: int, dry_run: bool) -> dict[str, list[str]]:
    """Remove what is older than the pipeline keeps it; in words, by table. Raw goes first, the rest follows.

    Nothing goes while a forgetting is unfinished, which finds by these rows what they were part of, nor while two
    generations of a stage are at work, of which one may need what the other does not.
    """
    kept = work.pipeline.retention
    if kept is None:
        return {}
    removal = Removal(work, spark, kept, now, dry_run)
    if (why := removal.waits()) is not None:
        return {f"{source}/raw": [f"{_NOTHING}: {why}"] for source in work.raws}
    notes = {f"{source}/raw": removal.raw(source) for source in work.raws}
    notes |= {f"{source}/dead_letters": removal.letters_of_source(source) for source in work.raws}
    for item in work.stages:
        notes |= {f"{item.name}/panes": removal.panes(item), f"{item.name}/dead_letters": removal.letters(item)}
    return notes


@dataclass(frozen=True)
class Removal:
    """Of a pipeline that says how long it keeps what; `spark` is the session of upkeep, `now` in microseconds.

    What it gives are notes in words: what was removed, or would be in a dry run, and what kept the rest.
    """

    work: PipelineWork
    spark: SparkSession
    kept: Retention
    now: int
    dry_run: bool = False

    def raw(self, source: str) -> list[str]:
        """Remove rows of a source by their event times; those without one by their arrival."""
        if self.kept.raw is None:
            return []
        if self.work.pipeline.source(source).connector.is_in_place:
            return ["nothing to remove: it is read in place"]
        log = self.work.raws[source]
        need = needs_of(self.work, source, log.last_step(self.work.spark))

        def gone(until: int) -> Column:
            at = coalesce(col(EVENT_TIME), col(ARRIVAL_TIME))
            return (col(STEP) <= bigint(need.step)) & (at < bigint(until))

        return self._removed(log.log.location, time_floor(source, "raw"), self.kept.raw, need, gone)

    def panes(self, item: StageWork) -> list[str]:
        """Remove panes of windows that cannot be recomputed any more."""
        if self.kept.panes is None:
            return []
        last = item.runner.last
        need = self._within(item, needs_of(self.work, item.name, 0 if last is None else last.tick))
        location = self.work.lake.table(item.name, "panes")
        name = time_floor(item.name, "panes")
        return self._removed(location, name, self.kept.panes, need, lambda until: _time(until) > _END)

    def letters(self, item: StageWork) -> list[str]:
        """Remove dead letters of windows that cannot be recomputed any more, from the table and the journal."""
        if self.kept.dead_letters is None:
            return []
        need = self._within(item, Need(INFINITY, 0))
        table = self.work.lake.table(item.name, "dead_letters")
        name = time_floor(item.name, "dead_letters")
        at = coalesce(col("window_end"), col("event_time"), col("arrived_at"))
        notes = self._removed(table, name, self.kept.dead_letters, need, lambda until: at < _time(until))
        if not self.dry_run:
            self._remove_from_journal(item, Floors.of(self.work.lake).all(self.spark).get(name))
        return notes

    def _remove_from_journal(self, item: StageWork, floor: int | None) -> None:
        """Remove the letters of which the table has none any more, also where a run was killed that had begun to."""
        if floor is None:
            return
        letter = [col(LogColumn.DEAD_LETTER, field) for field in ("event_time", "arrived_at")]
        own = coalesce(call("unix_micros", col("window_end")), *letter)
        spent = (col(LogColumn.KIND) == DEAD_LETTER) & (own < bigint(floor))
        journal = item.runner.journal.location
        if not where(journal.read(self.spark), spent).isEmpty() and self.waits() is None:
            is_done(self.spark, journal, lambda: journal.table(self.spark).delete(spent.text))
            point("retention:after_journal")

    def letters_of_source(self, source: str) -> list[str]:
        """Remove dead letters of a source by their arrival."""
        if self.kept.dead_letters is None:
            return []
        table, need = self.work.lake.table(source, "dead_letters"), Need(INFINITY, 0)
        name = time_floor(source, "dead_letters")
        gone = col("arrived_at")
        return self._removed(table, name, self.kept.dead_letters, need, lambda until: gone < _time(until))

    def waits(self) -> NotYet | None:
        """Why nothing may be removed now: a forgetting, or a new generation of a stage, has begun."""
        try:
            check_finished(self.work)
            for item in self.work.stages:
                item.check_settled()
        except NotYet as why:
            return why
        return None

    def _within(self, item: StageWork, need: Need) -> Need:
        """The same, and what is needed as long as windows can be recomputed."""
        whole = whole_from(item.runner)
        why = f"rows of windows of stage {item.name} are kept since then"
        if whole == MINUS_INFINITY:
            why = f"all rows of windows of stage {item.name} are kept"
        return need if need.time < whole else Need(whole, need.step, why)

    def _removed(self, location: Location, name: str, age: int, need: Need, gone: Callable[[int], Column]) -> list[str]:
        """Remove the rows that are gone before a time: that of their age, or from which on they are needed.

        A forgetting, or a new generation, that has begun by the time when the floor is raised may need them; one that
        begins later sees it.
        """
        until = min(self.now - age, need.time)
        notes = []
        if need.time < self.now - age and need.why is not None:
            since = "" if need.time == MINUS_INFINITY else f" from {format_time(need.time)} on"
            notes.append(f"rows{since} are kept longer than they should: {need.why}")
        if until == MINUS_INFINITY or not location.exists(self.spark):
            return notes
        condition = gone(until)
        if where(location.read(self.spark), condition).isEmpty():
            return notes
        if self.dry_run:
            return [*notes, f"rows before {format_time(until)} would be removed"]
        Floors.of(self.work.lake).raise_to(self.spark, name, until)
        point("retention:after_floor")
        if (why := self.waits()) is not None:
            return [*notes, f"{_NOTHING}: {why}"]
        done = is_done(self.spark, location, lambda: location.table(self.spark).delete(condition.text))
        point("retention:after_rows")
        said = f"rows before {format_time(until)} removed"
        return [*notes, said if done else "no rows removed: other writers were in the way"]


_NOTHING = "nothing removed by its age"
_END = col("window_end")


def _time(micros: int) -> Column:
    return call("timestamp_micros", bigint(micros))
