"""Files that cannot be read: which ones of a batch they are, and why, in words."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from py4j.protocol import Py4JJavaError
from pyspark.sql import DataFrame, SparkSession

from windrow.sources.csv_headers import UnreadableFile
from windrow.sources.files import read_again
from windrow.sources.java_words import causes_of
from windrow.spec.errors import SourceUnavailable
from windrow.spec.sources.files import Files
from windrow.spec.sources.source import Source

_KINDS = (
    (r"PermissionDenied|Permission denied|AccessControlException|AccessDenied", "there is no permission to read it"),
    (r"Is a directory", "it is a folder"),
    (r"PATH_NOT_FOUND|FILE_NOT_EXIST|FileNotFoundException|NoSuchFileException", "it is not there any more"),
    (r"is not a Parquet file|ParquetFileFormat\$.*corrupt|expected magic number", "it is no whole Parquet file"),
    (r"EOFException|Premature EOF|reached the end of stream", "it ends too early"),
    (r"ZipException|incorrect (?:header|data) check|not a gzip|invalid (?:block|stored|distance|literal|code|bit)|"
     r"[cC]orrupt\w* (?:input|data|block|gzip)|CRC", "its compression is broken"),
    (r"COLUMN_DATA_TYPE_MISMATCH|SchemaColumnConvertNotSupported", "a column of it has another type than the schema"),
    (r"ParquetDecodingException|TProtocolException|could not read page|corrupt", "what it holds is broken"),
)  # fmt: skip
"""What Java says of a file that is at fault itself, and the same in words; the first that is found counts."""

_OUTAGE = re.compile(
    r"java\.net\.|SocketTimeout|ConnectException|UnknownHost|SdkClientException|Input/output error|Stale file handle|"
    r"StandbyException"
)
"""What it says where the storage is at fault, and the file may be good."""
_NOT_OF_A_FILE = re.compile(r"Too many open files|No space left|OutOfMemoryError|InterruptedIOException|TaskKilled")
"""What it says where the machine or the run is at fault."""


@dataclass(frozen=True)
class SortedOut:
    """The files of a batch that can be read, and why the others cannot."""

    readable: tuple[str, ...]
    failed: dict[str, str]


def is_of_a_file(failure: Exception) -> bool:
    """Whether a batch has failed with an error that a file of it may have made."""
    words = "\n".join(causes_of(failure))
    return isinstance(failure, UnreadableFile) or "FAILED_READ_FILE" in words or _kind(words) is not None


def sort_out(
    spark: SparkSession, source: Source, files: Files, paths: Sequence[str], waits: Sequence[float],
    sleep: Callable[[float], None],
) -> SortedOut:  # fmt: skip
    """Which files cannot be read, when each that fails has been tried again after each of the waits (seconds).

    A file may be still being written. Errors: SourceUnavailable where the storage is at fault, and what a file has
    failed with where the machine is, or where no file can be read for a reason that is not known.
    """
    failures = _failures(spark, source, files, list(paths))
    for seconds in waits:
        if not failures:
            break
        sleep(seconds)
        failures = _failures(spark, source, files, list(failures))
    readable = tuple(path for path in paths if path not in failures)
    for failure in failures.values():
        words = "\n".join(causes_of(failure))
        if _OUTAGE.search(words):
            raise SourceUnavailable(source.name, in_words(failure))
        is_known = isinstance(failure, UnreadableFile) or _kind(words) is not None
        if _NOT_OF_A_FILE.search(words) or (not readable and not is_known):
            raise failure
    if not readable and not _holds_anything(spark, paths[0]):
        raise SourceUnavailable(source.name, f"nothing is left in the folder of {paths[0]}, which was to be read")
    return SortedOut(readable, {path: in_words(failure) for path, failure in failures.items()})


def _failures(spark: SparkSession, source: Source, files: Files, paths: list[str]) -> dict[str, Exception]:
    """What each file fails with. They are read by halves, so that one among many takes few passes."""
    try:
        _touch(read_again(spark, source.fields, files, paths))
        return {}
    except Exception as failure:
        if not is_of_a_file(failure):
            raise
        if len(paths) == 1:
            return {paths[0]: failure}
    middle = len(paths) // 2
    halves = (paths[:middle], paths[middle:])
    return {path: why for half in halves for path, why in _failures(spark, source, files, half).items()}


def _holds_anything(spark: SparkSession, path: str) -> bool:
    """Whether the folder of a file can be listed, and holds anything: one that was unmounted does not."""
    java: Any = spark._jvm
    folder = java.org.apache.hadoop.fs.Path(path).getParent()
    try:
        files = folder.getFileSystem(spark._jsparkSession.sessionState().newHadoopConf())
        return bool(files.listStatusIterator(folder).hasNext())
    except Py4JJavaError:
        return False


def _touch(frame: DataFrame) -> None:
    """Read all columns of all rows, and keep nothing."""
    frame.write.format("noop").mode("overwrite").save()


def _kind(words: str) -> str | None:
    return next((said for pattern, said in _KINDS if re.search(pattern, words)), None)


def in_words(failure: Exception) -> str:
    """Why a file could not be read: in words, and what Java's innermost error says."""
    if isinstance(failure, UnreadableFile):
        return str(failure)
    causes = causes_of(failure)
    innermost = causes[-1].splitlines()[0][:200] if causes else type(failure).__name__
    kind = _kind("\n".join(causes))
    return innermost if kind is None else f"{kind} ({innermost})"
