"""Which files have not landed yet, in the order of their modification."""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from urllib.parse import unquote

from pyspark.sql import SparkSession

from windrow.drivers.ingest.in_place.origin import Portion
from windrow.sources.batch_files import offset_of, strays
from windrow.sources.files import listed
from windrow.spec.sources.files import Files
from windrow.spec.sources.source import Source, resolve_environment
from windrow.store.delta.file_system import AT_ONCE, FileState, file_state
from windrow.store.upstream.in_place import RawInPlace
from windrow.store.upstream.places import LandedFile, Reading


@dataclass
class FilesAhead:
    """The files of a source that are there, without those that have landed up to a step."""

    source: Source
    files: Files
    _waiting: dict[str, FileState] = field(default_factory=dict)
    _strays: dict[str, str] = field(default_factory=dict)
    _landed: set[str] = field(default_factory=set)
    _until: int = 0
    _found: list[str] = field(default_factory=list)

    def look(self, spark: SparkSession) -> None:
        """List what is there."""
        self._found = listed(spark, self.source, self.files)
        self._strays = {offset_of(spark, path): why for path, why in strays(self.files).items()}

    def portions(self, spark: SparkSession, raw: RawInPlace, last: int) -> list[Portion]:
        """The files that a step behind the last one takes, and what stands among them and is none."""
        self._pass(offset for step in raw.steps(spark, self._until, last).values() for offset in step.offsets)
        self._until = last
        self._see(spark)
        most = self.files.max_files_per_batch
        oldest = sorted(self._waiting.items(), key=lambda item: (item[1].modified, item[0]))[:most]
        reading = self._reading
        taken = {offset: LandedFile(reading, state.size, state.modified) for offset, state in oldest}
        strays = {o: LandedFile(reading, why=why) for o, why in self._strays.items() if o not in self._landed}
        return [Portion(0, 1, offset, file.action) for offset, file in {**strays, **taken}.items()] if taken else []

    @property
    def number_landed(self) -> int:
        return len(self._landed)

    def _pass(self, offsets: Iterable[str]) -> None:
        """These have landed."""
        for offset in offsets:
            self._landed.add(offset)
            self._waiting.pop(offset, None)

    def _see(self, spark: SparkSession) -> None:
        """Look at the files that were listed and are new."""
        new = [offset for offset in dict.fromkeys(self._found) if offset not in self._landed]
        self._found = []
        for offset, state in states(spark, new).items():
            if state is not None:
                self._waiting[offset] = state

    @property
    def _reading(self) -> Reading:
        files, schema = self.files, tuple(self.source.schema.items())
        rename = tuple(self.source.rename.items())
        path, between = resolve_environment(files.path), files.separator
        return Reading(schema, files.format.value, files.header, path, rename, separator=between)


def states(spark: SparkSession, offsets: list[str]) -> dict[str, FileState | None]:
    """The files as they stand, by their offsets."""
    with ThreadPoolExecutor(AT_ONCE) as pool:
        return dict(zip(offsets, pool.map(lambda offset: file_state(spark, unquote(offset)), offsets), strict=True))
