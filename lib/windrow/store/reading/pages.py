"""Pages written to wherever a lake can be: a path, or a URI of what `deltalake` or Spark writes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlparse

from windrow.spec.errors import NotReadable
from windrow.store.reading.arrow import SCHEMES

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def write_text(path: str, text: str, spark: SparkSession | None = None) -> None:
    """Write a file in place of what is there. The session is for places that `deltalake` does not know.

    Raises NotReadable where it would be needed, and OSError where nothing can be written.
    """
    scheme = urlparse(path).scheme if "://" in path else ""
    if not scheme:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).write_text(text, encoding="utf-8")
    elif scheme in SCHEMES:
        _to_store(path, text)
    elif spark is not None:
        from windrow.store.delta.file_system import write_file

        write_file(spark, path, text.encode())
    else:
        raise NotReadable("--output", "is in no place that can be written without Spark", path)


def _to_store(uri: str, text: str) -> None:
    from deltalake.exceptions import DeltaError
    from deltalake.fs import DeltaStorageHandler

    folder, _, name = uri.rpartition("/")
    if folder.startswith("file://"):
        Path(urlparse(folder).path).mkdir(parents=True, exist_ok=True)
    try:
        # the stream itself: the file of Arrow around it hands it a buffer, which it does not take
        stream = DeltaStorageHandler(folder)._handler.open_output_stream(name, None)
        stream.write(text.encode())
        stream.close()  # type: ignore[attr-defined]
    except (DeltaError, ValueError) as error:
        raise OSError(f"{uri} cannot be written: {next(iter(str(error).splitlines()), '')}") from error
