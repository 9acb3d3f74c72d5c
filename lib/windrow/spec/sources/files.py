"""Files under a path: JSON lines, CSV or Parquet."""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Any, Literal

from windrow.spec.errors import SpecError
from windrow.spec.fields import forms
from windrow.spec.fields.kinds import FLAG, POSITIVE_INTEGER, TEXT, choice, simple
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

COMMA = ","


_SEPARATOR = re.compile(r"""[^\w"'\\\r\n\0]""", re.ASCII)


def _separator(value: Any) -> str:
    if not isinstance(value, str) or not value.isascii() or not _SEPARATOR.fullmatch(value):
        hint = 'for instance ";", or "\\t" for a tab'
        raise SpecError("", "must be one character that is no letter, digit, quote or end of a line", value, hint)
    return value


SEPARATOR = simple(_separator, forms.fixed(type="string", minLength=1, maxLength=1))

_SHOWN = {"\t": "a tab", " ": "a space"}

_WORDS = {FileFormat.JSON: "JSON lines", FileFormat.CSV: "CSV", FileFormat.PARQUET: "Parquet"}


@specification
class Files(Connector):
    """Files under a path, each read once. A landing batch takes at most `max_files_per_batch` of them; the rest waits.

    `header`: whether CSV files begin with a line of column names, by which they are read. `separator`: what stands
    between the values of a line of CSV. Rows are copied into the lake, unless `copy` says that they are read in place
    whenever they are needed: the files have to stay there, as they are.
    """

    NAME = "files"
    PATH = "path"
    YAML_HINTS = {
        "max_files_per_trigger": "max_files_per_batch", "dir": "path", "folder": "path", "sep": "separator",
        "delimiter": "separator", "delim": "separator",
    }  # fmt: skip

    path: str = plain(TEXT)
    format: Converted[FileFormat, FileFormatLike] = converted(FILE_FORMAT, default=FileFormat.JSON)
    max_files_per_batch: int = plain(POSITIVE_INTEGER, default=1000)
    header: bool = plain(FLAG, default=True)
    separator: str = plain(SEPARATOR, default=COMMA)
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

    def check(self) -> None:
        if self.separator != COMMA and self.format is not FileFormat.CSV:
            raise SpecError("separator", "is for CSV only", self.separator, "write format: csv beside it")

    def words(self) -> str:
        batch = many(self.max_files_per_batch, "file")
        header = ", without a header" if self.format is FileFormat.CSV and not self.header else ""
        shown = _SHOWN.get(self.separator, f'"{self.separator}"')
        between = "" if self.separator == COMMA else f", separated by {shown}"
        where = "" if self.copy else ", read in place, so nothing is copied"
        read = f"{self.kind_words()} in {self.path}{between}{header}{where}"
        return f"{read}; a landing batch takes at most {batch}, the rest waits"

    def kind_words(self) -> str:
        return _WORDS[self.format]
