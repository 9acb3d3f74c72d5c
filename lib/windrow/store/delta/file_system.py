"""Single files by Hadoop's file systems, so that any URI that Spark writes can be read and written.

On a local disk Hadoop starts a process for each file that it makes, to set what everybody may do with it, and each look
at a file takes several calls of the JVM. There it is done without.
"""

from __future__ import annotations

import os
from collections.abc import Generator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol
from uuid import uuid4

if TYPE_CHECKING:  # the layout of a lake is known without Spark
    from pyspark.sql import SparkSession


AT_ONCE = 16
"""So many files are looked at at once, where each look is a call to somewhere else."""


def hadoop(spark: SparkSession, path: str) -> tuple[Any, Any]:
    """The file system of a path, and the path, as Hadoop has them."""
    java: Any = spark._jvm
    place = java.org.apache.hadoop.fs.Path(path)
    return place.getFileSystem(spark._jsparkSession.sessionState().newHadoopConf()), place


def read_text(spark: SparkSession, path: str) -> str | None:
    """The text of a file; None where there is none, or none any more."""
    from py4j.protocol import Py4JJavaError

    java: Any = spark._jvm
    files, place = hadoop(spark, path)
    try:
        stream = files.open(place)
        try:
            return str(java.org.apache.commons.io.IOUtils.toString(stream, "UTF-8"))
        finally:
            stream.close()
    except Py4JJavaError as error:
        if _is_missing(spark, error):
            return None
        raise


def _is_missing(spark: SparkSession, error: Any) -> bool:
    """Whether Hadoop says that there is no such file."""
    java: Any = spark._jvm
    return bool(java.java.io.FileNotFoundException().getClass().isInstance(error.java_exception))


def is_there(spark: SparkSession, path: str) -> bool:
    """Whether there is a file or folder."""
    local = local_path(spark, path)
    if local is not None:
        return local.exists()
    files, place = hadoop(spark, path)
    return bool(files.exists(place))


def local_path(spark: SparkSession, path: str) -> Path | None:
    """Where a file is on a local disk; None elsewhere."""
    uri = spark._jvm.org.apache.hadoop.fs.Path(path).toUri()  # type: ignore[union-attr]
    scheme = uri.getScheme()
    return Path(uri.getPath()) if scheme in ("file", None) and _is_local(spark, scheme) else None


@lru_cache(maxsize=16)
def _is_local(spark: SparkSession, scheme: str | None) -> bool:
    """Whether paths with that scheme, or with none, are of a local disk. To ask takes as long as to make a file."""
    files, _ = hadoop(spark, "/" if scheme is None else "file:///")
    return bool(files.getScheme() == "file")


@dataclass(frozen=True)
class FileState:
    """A file as it stands: its size in bytes, and when it was last written, in ms since 1970."""

    size: int
    modified: int


def file_state(spark: SparkSession, path: str) -> FileState | None:
    """The state of the file at a path or URI that is not quoted; None where there is none."""
    from py4j.protocol import Py4JJavaError

    local = local_path(spark, path)
    if local is not None:
        return state_of(local)
    files, place = hadoop(spark, path)
    try:
        status = files.getFileStatus(place)
    except Py4JJavaError as error:
        if _is_missing(spark, error):
            return None
        raise
    return FileState(int(status.getLen()), int(status.getModificationTime()))


def state_of(file: Path) -> FileState | None:
    """The state of a file of this machine."""
    try:
        status = file.stat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    return FileState(status.st_size, status.st_mtime_ns // 1_000_000)


class Folder(Protocol):
    """A folder whose files are read, by their names."""

    def names(self) -> list[str]:
        """Of what is in it; nothing where there is no such folder."""

    def has(self, name: str) -> bool:
        """Whether there is such a file."""

    def lines(self, name: str) -> Generator[str]:
        """The lines of a file, without their ends, read as far as they are asked for."""

    def modified(self, name: str) -> int:
        """When a file was last written, in microseconds since 1970."""

    def remove(self, name: str) -> None:
        """Delete a file, unless somebody else has."""


def folder(spark: SparkSession, path: str) -> Folder:
    """The folder at a path, on any file system."""
    local = local_path(spark, path)
    return _HadoopFolder(spark, path) if local is None else _LocalFolder(local)


@dataclass(frozen=True)
class _LocalFolder:
    path: Path

    def names(self) -> list[str]:
        return os.listdir(self.path) if self.path.is_dir() else []

    def has(self, name: str) -> bool:
        return (self.path / name).exists()

    def lines(self, name: str) -> Generator[str]:
        with (self.path / name).open(encoding="utf-8") as file:
            for line in file:
                yield line.removesuffix("\n")

    def modified(self, name: str) -> int:
        return (self.path / name).stat().st_mtime_ns // 1000

    def remove(self, name: str) -> None:
        for one in (name, f".{name}.crc"):  # Hadoop's checksums
            (self.path / one).unlink(missing_ok=True)


@dataclass(frozen=True)
class _HadoopFolder:
    spark: SparkSession
    path: str

    def names(self) -> list[str]:
        files, place = self._place
        return [status.getPath().getName() for status in files.listStatus(place)] if files.exists(place) else []

    def has(self, name: str) -> bool:
        return bool(self._files.exists(self._file(name)))

    def lines(self, name: str) -> Generator[str]:
        java: Any = self.spark._jvm
        stream = java.java.io.InputStreamReader(self._files.open(self._file(name)), "UTF-8")
        lines = java.java.io.BufferedReader(stream)
        try:
            while (line := lines.readLine()) is not None:
                yield line
        finally:
            lines.close()

    def modified(self, name: str) -> int:
        return int(self._files.getFileStatus(self._file(name)).getModificationTime()) * 1000

    def remove(self, name: str) -> None:
        self._files.delete(self._file(name), False)

    @cached_property
    def _place(self) -> tuple[Any, Any]:
        return hadoop(self.spark, self.path)

    @property
    def _files(self) -> Any:
        return self._place[0]

    def _file(self, name: str) -> Any:
        return self.spark._jvm.org.apache.hadoop.fs.Path(f"{self.path}/{name}")  # type: ignore[union-attr]


def write_file(spark: SparkSession, path: str, content: bytes) -> None:
    """Write a file that nobody else writes."""
    local = local_path(spark, path)
    if local is not None:
        local.parent.mkdir(parents=True, exist_ok=True)
        local.write_bytes(content)
        return
    files, place = hadoop(spark, path)
    stream = files.create(place, True)
    stream.write(content)
    stream.close()


def replace_file(spark: SparkSession, path: str, text: str) -> None:
    """Put another text in place of that of a file, whole or not at all. When the file was written stays."""
    local = local_path(spark, path)
    if local is not None:
        made, state = local.with_name(f".{local.name}.{uuid4()}.tmp"), local.stat()
        made.write_text(text, encoding="utf-8")
        os.utime(made, ns=(state.st_atime_ns, state.st_mtime_ns))
        local.with_name(f".{local.name}.crc").unlink(missing_ok=True)  # Hadoop's, of the text that was there
        made.replace(local)
        return
    files, place = hadoop(spark, path)
    written = int(files.getFileStatus(place).getModificationTime())
    is_whole_by_itself = str(files.getScheme()).startswith("s3")  # an object is there when its stream is closed
    made_at = path if is_whole_by_itself else f"{place.getParent()}/.{place.getName()}.{uuid4()}.tmp"
    write_file(spark, made_at, text.encode())
    if not is_whole_by_itself:
        _rename_over(spark, made_at, path)
    files.setTimes(place, written, -1)


def _rename_over(spark: SparkSession, here: str, there: str) -> None:
    """Give a file the name of another one, in whose place it comes, in one step."""
    java: Any = spark._jvm
    (_, source), (_, target) = hadoop(spark, here), hadoop(spark, there)
    conf = spark._jsparkSession.sessionState().newHadoopConf()
    rename = getattr(java.org.apache.hadoop.fs, "Options$Rename")
    options = spark.sparkContext._gateway.new_array(rename, 1)  # type: ignore[union-attr]
    options[0] = rename.OVERWRITE
    java.org.apache.hadoop.fs.FileContext.getFileContext(target.toUri(), conf).rename(source, target, options)


def delete_file(spark: SparkSession, path: str) -> bool:
    """Delete a file; whether it was there."""
    files, place = hadoop(spark, path)
    return bool(files.delete(place, False))


def delete_folder(spark: SparkSession, path: str) -> None:
    """Delete a folder with all that is in it."""
    files, place = hadoop(spark, path)
    files.delete(place, True)


def copy_file(spark: SparkSession, here: str, there: str) -> None:
    """Copy a file that nobody changes. On a local disk it gets a second name, where that can be."""
    source, target = local_path(spark, here), local_path(spark, there)
    if source is not None and target is not None and _is_linked(source, target):
        return
    java: Any = spark._jvm
    (files, before), (others, after) = hadoop(spark, here), hadoop(spark, there)
    conf = spark._jsparkSession.sessionState().newHadoopConf()
    java.org.apache.hadoop.fs.FileUtil.copy(files, before, others, after, False, False, conf)


def _is_linked(source: Path, target: Path) -> bool:
    """Whether it could be done. The file is as new as its second name: VACUUM would take an old one for left over."""
    try:
        os.utime(source)
        os.link(source, target)
    except OSError:
        return False
    return True
