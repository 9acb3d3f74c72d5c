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
from typing import Any
from uuid import uuid4

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

from windrow.compile.sql.columns import named, null, quoted
from windrow.engine.frames import local
from windrow.store.delta.commit_files import AddedFile, CommitFiles
from windrow.store.delta.location import INDEXED, READABLE, Location
from windrow.store.delta.retries import ATTEMPTS, StepTaken
from windrow.store.delta.transactions import CONFLICTS, Appender

Notes = Mapping[str, Any]
"""What a commit says beside its step and writer, as plain values."""


REWRITES = "rewrites"
"""The note of a step that changes rows of other steps."""

LOOK_BACK = 256
"""How many older commits are looked at, at most, to find the files of a step."""


@dataclass(frozen=True)
class Commit:
    """One commit of a log that carries a step."""

    step: int
    writer: str
    version: int
    notes: Mapping[str, Any]


@dataclass
class StepLog:
    """An append-only log, or a projection, with its sequence of steps. `writer` is this process's nonce.

    `indexed` is the number of columns whose least and greatest values Delta keeps for every file, if not its default.
    `schema` are the columns that its rows are read with, if not those of the table: one that an older row has not is
    null, and the table gains it with the next step. `folders` is the partition column that says of which kind rows are.

    The newest step that was seen is remembered; a look at the log reads only the commits behind it.
    """

    location: Location
    app_id: str
    indexed: int | None = None
    schema: StructType | None = None
    folders: str = "kind"
    writer: str = field(default_factory=lambda: uuid4().hex)
    _version: int = field(default=-1, repr=False)
    _newest: Commit | None = field(default=None, repr=False)
    _owners: dict[int, str] = field(default_factory=dict, repr=False)
    _versions: dict[int, int] = field(default_factory=dict, repr=False)
    _oldest: int | None = field(default=None, repr=False)
    _rewritten: int = field(default=-1, repr=False)
    _schema: StructType | None = field(default=None, repr=False)
    _files_of: CommitFiles | None = field(default=None, repr=False)
    _added: dict[int, list[AddedFile]] = field(default_factory=dict, repr=False)
    _appender: Appender | None = field(default=None, repr=False)

    def last(self, spark: SparkSession) -> Commit | None:
        """The newest step of the log, or None when there is none."""
        commits = self._commits(spark)
        head = self._version if self._version >= 0 else commits.oldest_to_read(_is_step) - 1
        self._owners.clear()
        for version, metadata in commits.after(head):
            self._version = version
            commit = self._seen(version, metadata)
            if commit is not None:
                self._owners[commit.step] = commit.writer
                self._newest = commit
        return self._newest

    def _seen(self, version: int, metadata: str | None) -> Commit | None:
        self._oldest = version if self._oldest is None else min(self._oldest, version)
        commit = _commit(version, metadata)
        if commit is not None:
            self._versions[commit.step] = version
        if version > 0 and (commit is None or commit.notes.get(REWRITES)):
            self._rewritten = max(self._rewritten, version)
        return commit

    @property
    def rewritten(self) -> int:
        """The newest version that was seen which changed rows of older ones; -1 without any."""
        return self._rewritten

    def _versions_of(self, spark: SparkSession, steps: range) -> list[int] | None:
        """The versions of these steps, by a look at older commits where need be.

        None where they are too far back, or where the table was rewritten since, so that their files may be gone or
        hold something else: by a quarantine, by maintenance, by somebody else.
        """
        if steps:
            self._look_back(spark, steps[0], self._rewritten)
        known = [self._versions[step] for step in steps if step in self._versions]
        is_whole = len(known) == len(steps) and min(known, default=0) > self._rewritten
        return known if is_whole else None

    def _look_back(self, spark: SparkSession, step: int, until: int = -1) -> None:
        """Look at older commits until one is of that step, or of that version."""
        commits = self._commits(spark)
        for _ in range(LOOK_BACK):
            if not self._oldest or self._oldest <= until or step in self._versions:
                return
            self._seen(self._oldest - 1, commits.metadata(self._oldest - 1))

    def rows(
        self,
        spark: SparkSession,
        after: int,
        until: int,
        column: str,
        kinds: Sequence[str] = (),
        needs: Callable[[AddedFile], bool] = lambda file: True,
    ) -> DataFrame:
        """The rows of the steps after < step <= until of a log that is only appended to; `column` holds the step.

        Of a log that is partitioned by kind only those `kinds`, and at least those of the files that are needed. They
        are read from the files of their commits: the plan is the same in every tick, and Delta has nothing to look up,
        which saves a third of a second. Where that cannot be, Delta finds them in the newest version: an old one may
        have lost its files to maintenance.
        """
        if self._schema is None:
            self._schema = self.schema or self.location.read(spark).schema
        versions = self._versions_of(spark, range(after + 1, until + 1))
        if versions is not None:
            return self._files(spark, versions, self._schema, tuple(f"{self.folders}={kind}/" for kind in kinds), needs)
        wanted = f"{column} > {after} AND {column} <= {until}"
        if kinds:
            wanted += f" AND {self.folders} IN ({', '.join(map(repr, kinds))})"
        found = self.location.read(spark).where(wanted)
        return found if self.schema is None else found.selectExpr(*_padded(found.columns, self.schema))

    def newest_rows(self, spark: SparkSession, schema: StructType) -> DataFrame:
        """All rows of a table that every step makes anew, as the newest step that was seen has left them."""
        step = 0 if self._newest is None else self._newest.step
        versions = self._versions_of(spark, range(step, step + 1))
        return self.location.read(spark, self._version) if versions is None else self._files(spark, versions, schema)

    def _files(
        self,
        spark: SparkSession,
        versions: list[int],
        schema: StructType,
        folders: tuple[str, ...] = (),
        needs: Callable[[AddedFile], bool] = lambda file: True,
    ) -> DataFrame:
        """The rows of the files that these versions have added, of some folders or of all, and as far as needed."""
        added = [file for version in versions for file in self._added_by(spark, version)]
        files = [file.path for file in added if file.path.startswith(folders or "") and needs(file)]
        paths = [f"{self.location.path}/{file}" for file in files]
        if not paths:
            return local(spark, [], schema)
        return spark.read.schema(schema).option("basePath", self.location.path).parquet(*paths)

    def files(self, spark: SparkSession, after: int, until: int, kind: str | None = None) -> list[AddedFile] | None:
        """The files (of that kind) which the steps after < step <= until have added; None where they may be gone."""
        versions = self._versions_of(spark, range(after + 1, until + 1))
        if versions is None:
            return None
        added = (file for version in versions for file in self._added_by(spark, version))
        return [file for file in added if kind is None or file.path.startswith(f"{self.folders}={kind}/")]

    def _added_by(self, spark: SparkSession, version: int) -> list[AddedFile]:
        """The files that a version has added: a tick reads those of some ticks before it, again and again."""
        added = self._added.get(version)
        if added is None:
            added = self._commits(spark).added(version)
            if len(self._added) >= LOOK_BACK:
                self._added.clear()
            self._added[version] = added
        return added

    def _commits(self, spark: SparkSession) -> CommitFiles:
        if self._files_of is None or self._files_of.spark is not spark:
            self._files_of = CommitFiles(spark, self.location.path)
        return self._files_of

    def owner(self, spark: SparkSession, step: int) -> str | None:
        """The writer of a step; None where there is no such step, or it is too far back."""
        commit = self.commit(spark, step)
        return None if commit is None else commit.writer

    def commit(self, spark: SparkSession, step: int) -> Commit | None:
        """The commit of a step; None where there is no such step, or it is too far back."""
        if step not in self._versions:
            self.last(spark)
            self._look_back(spark, step)
        if step not in self._versions:
            return None
        version = self._versions[step]
        return _commit(version, self._commits(spark).metadata(version))

    def step_before(self, spark: SparkSession, micros: int) -> int:
        """The newest step that was committed before a time; 0 where there is none, or its commit is gone."""
        found = (_commit(*commit) for commit in self._commits(spark).before(micros))
        return next((commit.step for commit in found if commit is not None), 0)

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

    def begun(
        self, spark: SparkSession, step: int, fill: Callable[[Appender], Notes], frame: DataFrame | None = None
    ) -> bool:
        """Commit what is put into an append as that step, with the notes that this gives; again where others write.

        False where there is no table, or it lacks columns of the frame. Raises StepTaken.
        """
        for _ in range(ATTEMPTS):
            newest = self.last(spark)
            if newest is not None and newest.step >= step:
                raise StepTaken(self.location.path, step, newest.writer)
            append = self._appender_at(spark, self._version)
            if append.version < 0 or (frame is not None and not append.fits(frame)):
                return False
            if self._version != append.version:
                continue
            with suppress(*CONFLICTS):
                append.commit(self.app_id, step, self.metadata(step, fill(append)))
                self.verify(spark, step)
                return True
        raise StepTaken(self.location.path, step, None)

    def _appender_at(self, spark: SparkSession, version: int) -> Appender:
        """What appends behind that version, with nothing to append yet; another one where others have written since."""
        known = self._appender
        if known is None or known.version != version or known.spark.sparkContext is not spark.sparkContext:
            known = self._appender = Appender(spark, self.location.path)
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
            "spark.databricks.delta.commitInfo.userMetadata": self.metadata(step, notes),
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


def _padded(columns: Sequence[str], schema: StructType) -> list[str]:
    """The columns of the schema, null where there is no such column."""
    have = {name.lower() for name in columns}
    types = {field.name: field.dataType.simpleString() for field in schema.fields}
    return [quoted(name) if name.lower() in have else named(name, null(kind)) for name, kind in types.items()]


def _is_step(metadata: str | None) -> bool:
    return _commit(0, metadata) is not None


def _commit(version: int, metadata: str | None) -> Commit | None:
    if not metadata or not metadata.startswith("{"):
        return None
    notes = json.loads(metadata)
    if "step" not in notes:
        return None
    return Commit(notes.pop("step"), notes.pop("writer"), version, notes)
