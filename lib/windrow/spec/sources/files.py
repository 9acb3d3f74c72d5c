"""Files under a path: JSON lines, CSV or Parquet."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

from windrow.spec.fields.kinds import FLAG, POSITIVE_INTEGER, TEXT, choice
from windrow.spec.fields.reading import Kind
from windrow.spec.fields.typed import Converted, converted, plain, specification
from windrow.spec.sources.connector import Connector
from windrow.spec.words import many


class FileFormat(StrEnum):
    """What the files of a source hold: JSON lines, CSV with or without a header, or Parquet."""

    JSON = "json"
    CSV = "csv"
    PARQUET = "parquet"


FileFormatLike = FileFormat | Literal["json", "csv", "parquet"]
FILE_FORMAT: Kind[FileFormat, FileFormatLike] = choice(
    FileFormat, {"jsonl": "json", "ndjson": "json", "jsonlines": "json"}
)

_WORDS = {FileFormat.JSON: "JSON lines", FileFormat.CSV: "CSV", FileFormat.PARQUET: "Parquet"}


@specification
class Files(Connector):
    """Files under a path, each read once. A landing batch takes at most `max_files_per_batch` of them; the rest waits.

    `header`: whether CSV files begin with a line of column names, by which they are read. Rows are copied into the
    lake, unless `copy` says that they are read in place whenever they are needed: the files have to stay there, as
    they are.
    """

    NAME = "files"
    PATH = "path"
    YAML_HINTS = {"max_files_per_trigger": "max_files_per_batch", "dir": "path", "folder": "path"}

    path: str = plain(TEXT)
    format: Converted[FileFormat, FileFormatLike] = converted(FILE_FORMAT, default=FileFormat.JSON)
    max_files_per_batch: int = plain(POSITIVE_INTEGER, default=1000)
    header: bool = plain(FLAG, default=True)
    copy: bool = plain(FLAG, default=True)

    @property
    def is_in_place(self) -> bool:
        return not self.copy

    @property
    def has_json(self) -> bool:
        return self.format is FileFormat.JSON

    @property
    def has_names(self) -> bool:
        return self.format is not FileFormat.CSV or self.header

    def words(self) -> str:
        batch = many(self.max_files_per_batch, "file")
        header = ", without a header" if self.format is FileFormat.CSV and not self.header else ""
        where = "" if self.copy else ", read in place, so nothing is copied"
        read = f"{self.kind_words()} in {self.path}{header}{where}"
        return f"{read}; a landing batch takes at most {batch}, the rest waits"

    def kind_words(self) -> str:
        return _WORDS[self.format]
