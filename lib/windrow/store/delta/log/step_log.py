"""Logs that are written in steps, each by exactly one writer.

A commit carries its step as `txnVersion` under the log's `txnAppId`, and step and writer in `userMetadata`. An append
is committed only where nobody has written since its writer looked whether the step is free. Other writes leave that to
Delta, which throws at one of two writers of a step when they overlap, and silently skips its write when the other had
finished: so after each commit the writer reads back who owns the step. Whoever does not own it gets `StepTaken`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from math import inf
from typing import Any
from uuid import uuid4

from pyspark.sql import DataFrame, SparkSession

from windrow.spec.errors import WindrowError
from windrow.store.delta.copy_on_write import Rewrite, rewrite
from windrow.store.delta.location import INDEXED, READABLE, REWRITES, USER_METADATA
from windrow.store.delta.log.commit_files import AddedFile
from windrow.store.delta.log.commits import Commit, Notes
from windrow.store.delta.log.log_store import newest_snapshot
from windrow.store.delta.log.retries import ATTEMPTS, StepTaken
from windrow.store.delta.log.steps import Steps
from windrow.store.delta.log.transactions import CONFLICTS, Appender


class LostSteps(WindrowError):
    """The commits of the newest steps of a log are gone, and nothing repeats what they said."""

    def __init__(self, log: str) -> None:
        super().__init__(
            f"the log of {log} has no commit of its newest step any more, so nobody knows how far it is: somebody else "
            "has maintained it until Delta removed that one. Hint: restore that commit to _delta_log from a backup, or "
            "take a new lake path (--set lake=...)"
        )


@dataclass
class StepLog(Steps):
    """An append-only log, or a projection, whose steps are written here. `writer` is this process's nonce.

    `indexed` is the number of columns whose least and greatest values are kept for every file, if not Delta's default.
    Where a step has columns of `schema` that the table has not, the table gains them. `parquet` are settings of Parquet
    for the files of steps that are appended.
    """

    indexed: int | None = None
    parquet: Mapping[str, str] = field(default_factory=dict, repr=False)
    writer: str = field(default_factory=lambda: uuid4().hex)
    _appender: Appender | None = field(default=None, repr=False)
    _confirmed: Commit | None = field(default=None, repr=False)
    """What a commit of maintenance repeats, if it is the newest step for Delta, too."""

    def last(self, spark: SparkSession) -> Commit | None:
        """The newest step of the log, or None when there is none. Errors: LostSteps."""
        found = super().last(spark)
        if found is None and self._oldest:
            raise LostSteps(self.location.path)
        if found is not None and found.step not in self._versions and found is not self._confirmed:
            newest = self._newest_by_delta(spark)
            if newest > found.step:  # or another writer has just committed it
                found = super().last(spark)
            if found is None or (newest > found.step and found.step not in self._versions):
                raise LostSteps(self.location.path)
            self._confirmed = found
        return found

    def _newest_by_delta(self, spark: SparkSession) -> int:
        """The newest step as far as Delta's own guard knows, which every step is in; it has no notes."""
        known = newest_snapshot(spark, self.location.path).transactions().get(self.app_id)
        return int(known.get()) if known.isDefined() else 0

    def append(self, frame: DataFrame, step: int, notes: Notes, partition_by: tuple[str, ...] = ()) -> None:
        """Append a frame as that step. Errors: StepTaken where another writer owns it."""
        spark = frame.sparkSession

        def fill(append: Appender) -> Notes:
            append.write(frame)
            return notes

        if not self.begun(spark, step, fill, frame):
            self._write(frame, step, notes, partition_by, "append")

    def add(self, spark: SparkSession, files: Sequence[AddedFile], step: int, notes: Notes) -> None:
        """Add files that are there already as that step, to a table that is there. Raises StepTaken."""

        def fill(append: Appender) -> Notes:
            append.add(files)
            return notes

        if not self.begun(spark, step, fill):
            raise StepTaken(self.location.path, step, None)

    def rewrite(self, spark: SparkSession, step: int, notes: Notes, change: Rewrite) -> None:
        """Change rows of the table as that step, which says so. Raises StepTaken where another writer owns it."""

        def fill(append: Appender) -> Notes:
            rewrite(append, self.location, change)
            return {**notes, REWRITES: True}

        if not self.begun(spark, step, fill):
            raise StepTaken(self.location.path, step, None)

    def begun(
        self, spark: SparkSession, step: int, fill: Callable[[Appender], Notes | None], frame: DataFrame | None = None
    ) -> bool:
        """Commit what is put into an append as that step, with the notes that this gives; again where others write.

        False where there is no table, it lacks columns of the frame, or `fill` gives None. Raises StepTaken.
        """
        for _ in range(ATTEMPTS):
            newest = self.last(spark)
            if newest is not None and newest.step >= step:
                raise StepTaken(self.location.path, step, newest.writer)
            append = self._appender_at(spark, self._version)
            if append.version < 0 or (frame is not None and not append.fits(frame)):
                return False
            if self._version != append.version:
                self._known_at = -inf
                continue
            with suppress(*CONFLICTS):
                try:
                    notes = fill(append)
                    if notes is None:
                        return False
                    append.commit(self.app_id, step, self.metadata(step, notes))
                finally:
                    append.discard()
                self.verify(spark, step)
                return True
        raise StepTaken(self.location.path, step, None)

    def _appender_at(self, spark: SparkSession, version: int) -> Appender:
        """What appends behind that version, with nothing to append yet; another one where others have written since."""
        known = self._appender
        if known is None or known.version != version or known.spark.sparkContext is not spark.sparkContext:
            known = self._appender = Appender(spark, self.location.path, self.parquet)
        known.begin(spark)
        return known

    def replace(self, frame: DataFrame, step: int, notes: Notes, partition_by: tuple[str, ...] = ()) -> None:
        """Put a frame in place of all that the table holds, as that step."""
        self._write(frame, step, notes, partition_by, "overwrite")

    @contextmanager
    def stepping(self, spark: SparkSession, step: int, notes: Notes) -> Iterator[None]:
        """Make what is done in it, one MERGE or UPDATE of the table in that session, the step. Errors: StepTaken."""
        settings = {
            "spark.databricks.delta.write.txnAppId": self.app_id,
            "spark.databricks.delta.write.txnVersion": str(step),
            USER_METADATA: self.metadata(step, notes),
        }
        for name, value in settings.items():
            spark.conf.set(name, value)
        try:
            yield
        except CONFLICTS as error:
            raise StepTaken(self.location.path, step, None) from error
        finally:
            for name in settings:
                spark.conf.unset(name)
        self.verify(spark, step)

    @property
    def properties(self) -> Mapping[str, str]:
        """Of the table."""
        if self.indexed is None:
            return READABLE
        return {**READABLE, INDEXED: str(self.indexed)}

    def metadata(self, step: int, notes: Notes) -> str:
        """The `userMetadata` of the commit of a step."""
        return json.dumps({"step": step, "writer": self.writer, **notes})

    def verify(self, spark: SparkSession, step: int) -> None:
        """Read back who owns the step. Errors: StepTaken."""
        self.last(spark)
        if self._owners.get(step) != self.writer:
            newest = self._newest
            raise StepTaken(self.location.path, step, None if newest is None else newest.writer)

    def _write(
        self, frame: DataFrame, step: int, notes: Mapping[str, Any], partition_by: tuple[str, ...], mode: str
    ) -> None:
        writer = frame.write.format("delta").mode(mode)
        writer = writer.option("txnAppId", self.app_id).option("txnVersion", step)
        writer = writer.option("userMetadata", self.metadata(step, notes))
        if mode == "overwrite":
            writer = writer.option("overwriteSchema", "true")
        elif self.schema is not None:
            writer = writer.option("mergeSchema", "true")
        for name, value in self.properties.items():
            writer = writer.option(name, value)
        if partition_by:
            writer = writer.partitionBy(*partition_by)
        try:
            self.location.save(writer)
        except CONFLICTS as error:
            raise StepTaken(self.location.path, step, None) from error
        self.verify(frame.sparkSession, step)
