"""Where a backfill puts recomputed windows before anybody may see them."""

from __future__ import annotations

from dataclasses import dataclass

from pyspark.sql import DataFrame, SparkSession

from windrow.store.delta.location import Lake, Location
from windrow.store.delta.log.step_log import StepLog
from windrow.store.journal.journal import Journal
from windrow.store.upstream.offsets import Offsets


@dataclass(frozen=True)
class Staged:
    """The windows that stand in a staging area.

    `id` tells one computation from any other, `tick` is the last one of the journal that it knew of, `offsets` how far
    it read, `quarantined` the last steps that had taken files out. `version` is the table's.
    `mode` says what the run makes of windows that have not expired; `spans` are those that were requested, `made`,
    `until` and `gaps` say which of their windows were to be published; `restates` says whether late rows count in them.
    """

    id: str
    tick: int
    offsets: Offsets
    quarantined: Offsets
    version: int
    mode: str
    spans: list[list[int]]
    made: list[list[int]]
    until: int
    gaps: list[list[int]]
    restates: bool


_OFFSETS = ("offsets", "quarantined")
_NOTES = (*_OFFSETS, "tick", "mode", "spans", "made", "until", "gaps", "restates")


@dataclass(frozen=True)
class Staging:
    """The staging area of one run for an interval of one generation of a stage.

    Two writers of one step: the later one gets StepTaken.
    """

    log: StepLog

    @classmethod
    def of(cls, lake: Lake, run: str, journal: Journal, start: int, end: int) -> Staging:
        folder, name = lake.staging(run).path, f"{journal.stage.stage.name}-{journal.generation}-{start}-{end}"
        app_id = f"windrow-staging-{folder.rpartition('/')[2]}/{name}"
        return cls(StepLog(Location(f"{folder}/{name}"), app_id))

    def last(self, spark: SparkSession) -> Staged | None:
        """What stands there, or None."""
        commit = self.log.last(spark)
        if commit is None or not commit.notes.keys() >= set(_NOTES):
            return None
        notes = {name: commit.notes[name] for name in _NOTES}
        notes.update({name: Offsets(notes[name]) for name in _OFFSETS})
        return Staged(f"{commit.writer}-{commit.step}", **notes, version=commit.version)

    def write(self, frame: DataFrame, of: Staged) -> Staged:
        """Put recomputed windows in place of what stood there; `of` says of what, its id and version apart.

        Raises StepTaken.
        """
        spark = frame.sparkSession
        before = self.log.last(spark)
        step = 1 if before is None else before.step + 1
        notes = {name: getattr(of, name) for name in _NOTES}
        self.log.replace(frame, step, {**notes, **{name: dict(notes[name].steps) for name in _OFFSETS}})
        staged = self.last(spark)
        assert staged is not None, "it was written"
        return staged

    def read(self, spark: SparkSession, staged: Staged) -> DataFrame:
        """The windows of that computation, also when another stands there since: `key`, bounds and `v_` columns.

        Those of the newest are read from its files, so that Delta has nothing to look up.
        """
        table, newest = self.log.location.read(spark, staged.version), self.log.last(spark)
        is_newest = newest is not None and newest.version == staged.version
        return self.log.newest_rows(spark, table.schema) if is_newest else table
