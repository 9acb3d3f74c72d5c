"""The steps of a log, as a process knows them by its commits: which there are, and the rows that each has added."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

from windrow.compile.sql.columns import named, null, quoted
from windrow.engine.frames import local
from windrow.store.delta.location import REWRITES, Location
from windrow.store.delta.log.commit_files import AddedFile, CommitFiles
from windrow.store.delta.log.commits import Commit, is_step

LOOK_BACK = 256
"""How many older commits are looked at, at most, to find the files of a step."""
KNOWN_STEPS = 4 * LOOK_BACK
"""Of how many steps the versions are known, at least: those of twice as many at most. A stream has no end."""

TRUSTED = 600.0
"""Seconds in which a commit is trusted to be followed by the next: for an hour at least no commit is removed."""


@dataclass
class Steps:
    """The steps of the log at a location.

    `schema` are the columns that its rows are read with, if not those of the table: one that an older row has not is
    null. `folders` is the partition column that says of which kind rows are.

    The newest step that was seen is remembered; a look at the log reads only the commits behind it.
    """

    location: Location
    app_id: str
    schema: StructType | None = None
    folders: str = "kind"
    _version: int = field(default=-1, repr=False)
    _known_at: float = field(default=0.0, repr=False)
    _newest: Commit | None = field(default=None, repr=False)
    _owners: dict[int, str] = field(default_factory=dict, repr=False)
    _versions: dict[int, int] = field(default_factory=dict, repr=False)
    _oldest: int | None = field(default=None, repr=False)
    _rewritten: int = field(default=-1, repr=False)
    _schema: StructType | None = field(default=None, repr=False)
    _files_of: CommitFiles | None = field(default=None, repr=False)
    _added: dict[int, list[AddedFile]] = field(default_factory=dict, repr=False)

    def last(self, spark: SparkSession) -> Commit | None:
        """The newest step of the log, or None when there is none."""
        commits = self._commits(spark)
        if self._is_lost(commits):
            self._begin_again()
        head = self._version if self._version >= 0 else commits.oldest_to_read(is_step) - 1
        self._owners.clear()
        repeated: Commit | None = None
        for version, metadata in commits.after(head):
            self._version, self._known_at = version, time.monotonic()
            commit = self._seen(version, metadata)
            if commit is not None:
                self._owners[commit.step] = commit.writer
                self._newest = commit
            elif self._newest is None:
                repeated = _later(repeated, Commit.repeated(version, metadata))
        if self._newest is None and repeated is not None:
            self._owners[repeated.step] = repeated.writer
            self._newest = repeated
        self._forget_old()
        return self._newest

    def _is_lost(self, commits: CommitFiles) -> bool:
        """Whether the commit that was seen last is gone: then those behind it may be gone, too, and newer ones there.

        A process that looks seldom may find it so, as maintenance removes old commits. It is asked now and then only.
        """
        now = time.monotonic()
        if self._version < 0 or now - self._known_at < TRUSTED or commits.is_there(self._version + 1):
            return False
        self._known_at = now
        return not commits.is_there(self._version)

    def _begin_again(self) -> None:
        """Forget what was seen of the log."""
        self._version, self._newest, self._oldest = -1, None, None
        self._versions.clear()
        self._added.clear()

    def _forget_old(self) -> None:
        """Forget the versions of steps far behind: whoever wants one looks back, as a process does that has begun."""
        if len(self._versions) > 2 * KNOWN_STEPS:
            newest = sorted(self._versions)[-KNOWN_STEPS:]
            self._versions = {step: self._versions[step] for step in newest}
            self._oldest = self._versions[newest[0]]

    def _seen(self, version: int, metadata: str | None) -> Commit | None:
        self._oldest = version if self._oldest is None else min(self._oldest, version)
        commit = Commit.of(version, metadata)
        if commit is not None:
            self._versions[commit.step] = version
        if version > 0 and (commit is None or commit.notes.get(REWRITES)):
            self._rewritten = max(self._rewritten, version)
        return commit

    def newest_version(self, spark: SparkSession) -> int:
        """The newest version of the table; -1 where there is none."""
        self.last(spark)
        return self._version

    @property
    def rewritten(self) -> int:
        """The newest version that was seen which changed rows of older ones; -1 without any."""
        return self._rewritten

    def _versions_of(self, spark: SparkSession, steps: range) -> list[int] | None:
        """The versions of these steps, by a look at older commits where need be.

        None where they are too far back, or where the table was rewritten since, so that their files may be gone or
        hold something else: by a quarantine, by maintenance, by somebody else.
        """
        known = self._known_versions(spark, steps, self._rewritten)
        return known if known is not None and min(known, default=0) > self._rewritten else None

    def _known_versions(self, spark: SparkSession, steps: range, until: int = -1) -> list[int] | None:
        """The versions of these steps; None where one is too far back, or not behind that version."""
        if steps:
            self._look_back(spark, steps[0], until)
        known = [self._versions[step] for step in steps if step in self._versions]
        return known if len(known) == len(steps) else None

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

    def written(self, spark: SparkSession, after: int, until: int) -> list[AddedFile] | None:
        """The files that the steps after < step <= until have added, also where they were rewritten since.

        They say how much a step has written, but need not be there. None where a step is too far back.
        """
        versions = self._known_versions(spark, range(after + 1, until + 1))
        return None if versions is None else [file for version in versions for file in self._added_by(spark, version)]

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
            return self._newest if self._newest is not None and self._newest.step == step else None
        version = self._versions[step]
        return Commit.of(version, self._commits(spark).metadata(version))

    def step_before(self, spark: SparkSession, micros: int) -> int:
        """The newest step that was committed before a time; 0 where there is none, or its commit is gone."""
        found = (Commit.of(*commit) for commit in self._commits(spark).before(micros))
        return next((commit.step for commit in found if commit is not None), 0)


def _padded(columns: Sequence[str], schema: StructType) -> list[str]:
    """The columns of the schema, null where there is no such column."""
    have = {name.lower() for name in columns}
    types = {field.name: field.dataType.simpleString() for field in schema.fields}
    return [quoted(name) if name.lower() in have else named(name, null(kind)) for name, kind in types.items()]


def _later(one: Commit | None, other: Commit | None) -> Commit | None:
    """Of two commits that of the greater step."""
    return max((commit for commit in (one, other) if commit is not None), key=lambda commit: commit.step, default=None)
