"""Logs that are written in steps, each by exactly one writer.

A commit carries its step as `txnVersion` under the log's `txnAppId`, and step and writer in `userMetadata`. Of two
writers of one step Delta throws at one when they overlap, and silently skips its write when the other had finished:
so after each commit the writer reads back who owns the step. Whoever does not own it gets `StepTaken`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

from delta.exceptions import DeltaConcurrentModificationException
from pyspark.sql import DataFrame, SparkSession

from windrow.store.location import READABLE, Location


class StepTaken(Exception):
    """Another writer owns the step: read the log again and compute again."""

    def __init__(self, log: str, step: int, writer: str | None) -> None:
        super().__init__(f"step {step} of {log} was written by {writer or 'another writer'}")
        self.step = step
        self.writer = writer


@dataclass(frozen=True)
class Commit:
    """One commit of a log that carries a step."""

    step: int
    writer: str
    version: int
    notes: Mapping[str, Any]


@dataclass
class StepLog:
    """An append-only log, or a projection, with its sequence of steps. `writer` is this process's nonce."""

    location: Location
    app_id: str
    writer: str = field(default_factory=lambda: uuid4().hex)
    properties: Mapping[str, str] = field(default_factory=dict)

    def last(self, spark: SparkSession) -> Commit | None:
        """The newest step of the log, or None when there is none."""
        if not self.location.exists(spark):
            return None
        for limit in (1, 10, 1000):
            commits = self._history(spark, limit)
            if commits:
                return commits[0]
        return None

    def append(self, frame: DataFrame, step: int, notes: Mapping[str, Any], partition_by: tuple[str, ...] = ()) -> None:
        """Append a frame as that step. Errors: StepTaken where another writer owns it."""
        self._write(frame, step, notes, partition_by, "append")

    def replace(self, frame: DataFrame, step: int, notes: Mapping[str, Any], partition_by: tuple[str, ...] = ()) -> None:
        """Put a frame in place of all that the table holds, as that step."""
        self._write(frame, step, notes, partition_by, "overwrite")

    def metadata(self, step: int, notes: Mapping[str, Any]) -> str:
        return json.dumps({"step": step, "writer": self.writer, **notes})

    def verify(self, spark: SparkSession, step: int) -> None:
        """Read back who owns the step. Errors: StepTaken."""
        for limit in (1, 10, 1000):
            for commit in self._history(spark, limit):
                if commit.step == step:
                    if commit.writer != self.writer:
                        raise StepTaken(self.location.path, step, commit.writer)
                    return
        raise StepTaken(self.location.path, step, None)

    def _write(
        self, frame: DataFrame, step: int, notes: Mapping[str, Any], partition_by: tuple[str, ...], mode: str
    ) -> None:
        spark = frame.sparkSession
        writer = frame.write.format("delta").mode(mode)
        writer = writer.option("txnAppId", self.app_id).option("txnVersion", step)
        writer = writer.option("userMetadata", self.metadata(step, notes))
        if mode == "overwrite":
            writer = writer.option("overwriteSchema", "true")
        for name, value in {**READABLE, **self.properties}.items():
            writer = writer.option(name, value)
        if partition_by:
            writer = writer.partitionBy(*partition_by)
        try:
            self.location.save(writer)
        except DeltaConcurrentModificationException as error:
            raise StepTaken(self.location.path, step, None) from error
        self.verify(spark, step)

    def _history(self, spark: SparkSession, limit: int) -> list[Commit]:
        rows = self.location.table(spark).history(limit).select("version", "userMetadata").collect()
        commits = (_commit(row["version"], row["userMetadata"]) for row in rows)
        return [commit for commit in commits if commit is not None]


def _commit(version: int, metadata: str | None) -> Commit | None:
    if not metadata or not metadata.startswith("{"):
        return None
    notes = json.loads(metadata)
    if "step" not in notes:
        return None
    return Commit(notes.pop("step"), notes.pop("writer"), version, notes)
