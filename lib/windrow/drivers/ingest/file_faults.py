"""What a source's files may do to a landing: those that cannot be read, and what stands among them and is no file."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from urllib.parse import unquote

from pyspark.sql import DataFrame, SparkSession

from windrow.compile.elements.envelope import OFFSET
from windrow.compile.sql.columns import any_of, col, lit
from windrow.engine.frames import where
from windrow.sources.batch_files import BatchFiles, offset_of, strays
from windrow.sources.csv_headers import by_header
from windrow.sources.files import read_again
from windrow.sources.unreadable import sort_out
from windrow.spec.sources.files import Files
from windrow.spec.sources.source import Source
from windrow.store.upstream.raw import Raw

_log = logging.getLogger("windrow")

WAITS = (1.0, 2.0, 4.0)
"""Seconds after which a file that cannot be read is tried again: somebody may be writing it."""

Why = Mapping[str, str]
"""Files that cannot be read, by their offsets, with the reason in words."""


@dataclass
class FileFaults:
    """The faults of one source's files. `named` are the strays that a landing step has named."""

    source: Source
    files: Files
    raw: Raw
    waits: tuple[float, ...] = WAITS
    sleep: Callable[[float], None] = time.sleep
    named: set[str] = field(default_factory=set)

    def strays(self, spark: SparkSession) -> Why:
        """What stands among the files and is none, where no step has named it yet."""
        offsets = {offset_of(spark, path): why for path, why in strays(self.files).items()}
        last = self.raw.last_step(spark) if offsets.keys() - self.named else 0
        if last:
            known = where(self.raw.files(spark, last), any_of(col(OFFSET) == lit(offset) for offset in offsets))
            self.named.update(row[OFFSET] for row in known.collect())
        return {offset: why for offset, why in offsets.items() if offset not in self.named}

    def is_in_order(self, spark: SparkSession, batch: BatchFiles) -> bool:
        """Whether the files have the columns of the schema as Spark's own frame takes them: CSV by their order."""
        return by_header(spark, self.source.fields, self.files, batch.paths).keys() <= {None}

    def again(self, spark: SparkSession, batch: BatchFiles) -> DataFrame:
        """The rows of all files of a batch, each of them once, where Spark's own frame has not."""
        return read_again(spark, self.source.fields, self.files, batch.paths)

    def sorted_out(self, spark: SparkSession, batch: BatchFiles) -> tuple[DataFrame | None, Why]:
        """The rows of the files of a batch that can be read now, and why the others cannot.

        Raises what a file has failed with where the storage may be at fault.
        """
        found = sort_out(spark, self.source, self.files, batch.paths, self.waits, self.sleep)
        failed = {offset_of(spark, path): why for path, why in found.failed.items()}
        for offset, why in failed.items():
            _log.warning("windrow: source %s: %s cannot be read: %s", self.source.name, unquote(offset), why)
        if not found.readable:
            return None, failed
        return read_again(spark, self.source.fields, self.files, found.readable), failed
