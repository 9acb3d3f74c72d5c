"""A CSV file as columns of text. No Spark: Arrow reads it."""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mode

import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.csv as arrow_csv  # type: ignore[import-untyped]

from windrow.drivers.init.kinds import NUMBER, kind_of
from windrow.drivers.init.names import check_unlike, named
from windrow.drivers.init.patterns import DATE
from windrow.spec.errors import SpecError
from windrow.view.init.guess import Column

MOST_ROWS = 1_000_000
"""So many rows are looked at."""
_HEAD = 64 * 1024
_SEPARATORS = ";\t|,"
"""Those that are usual; where two are as likely, the first: commas stand in texts and numbers too."""
ISO = r"^\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?)?"
OFFSET = r"(Z|[+-]\d{2}(:?\d{2})?)"


@dataclass(frozen=True)
class Texts:
    """The first rows of a file, all values as texts; null where they are empty. Columns have their names in windrow."""

    table: pa.Table
    columns: Sequence[Column]
    has_header: bool
    separator: str
    is_whole: bool
    unreadable: int
    """Lines with another number of values, which are passed over."""

    def of(self, name: str) -> pa.ChunkedArray:
        """The texts of a column."""
        return self.table[name]

    def kind(self, name: str) -> str:
        """The type of a column."""
        return next(column.kind for column in self.columns if column.name == name)


@dataclass(frozen=True)
class _Head:
    """How the file is written: its first rows, what separates values, the names, and how many lines are before rows."""

    rows: Sequence[Sequence[str]]
    separator: str
    headers: Sequence[str]
    has_header: bool
    skipped: int


def read(path: Path) -> Texts:
    """The columns of a CSV file. Errors: SpecError for a file that cannot be read, or has no rows or no header line."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            text = file.read(_HEAD)
    except OSError as error:
        raise SpecError(f"{path}:", "cannot be read", error.strerror) from error
    except UnicodeDecodeError as error:
        raise _no_utf8(path) from error
    head = _head(path, text)
    check_unlike(path, head.headers)
    names = named(head.headers)
    table, is_whole, unreadable = _table(path, names, head)
    known = [(name, header) for name, header in zip(names, head.headers, strict=True) if header]
    columns = [Column(name, header, *kind_of(name, table[name])) for name, header in known]
    return Texts(table, columns, head.has_header, head.separator, is_whole, unreadable)


def _no_utf8(path: Path) -> SpecError:
    hint = f"if it is Latin-1: iconv -f latin1 -t utf-8 {path} > NEW.csv"
    return SpecError(f"{path}:", "must be a text in UTF-8", None, hint)


def _head(path: Path, text: str) -> _Head:
    lines = text.splitlines(keepends=True)
    empty = next((number for number, line in enumerate(lines) if line.strip()), len(lines))
    lines = lines[empty:]
    if lines and re.fullmatch(r"(?i)sep=.", lines[0].strip()):
        raise SpecError(f"{path}:", "must begin with its header", lines[0].strip(), "remove this line")
    separator = _separator([re.sub(r'"[^"]*"', "", line) for line in lines[:_LOOKED_AT] if line.strip()])
    rows = [row for row in csv.reader(lines[:_LOOKED_AT], delimiter=separator) if row]
    if len(rows) < 2:
        raise SpecError(f"{path}:", "must have rows", None, "a header and a row at least")
    first = [value.strip() for value in rows[0]]
    if any("\n" in value or "\r" in value for value in first):
        raise SpecError(f"{path}:", "must have a header of one line", " ".join(lines[0].split()))
    if len({len(row) for row in rows[1:-1]}) == 1 and len(first) < len(rows[1]):
        hint = "remove the lines before the header"
        raise SpecError(f"{path}:", "must begin with a header of as many values as its rows", lines[0].strip(), hint)
    plain = re.compile("|".join([NUMBER, ISO, DATE]))
    if any(plain.match(value) for value in first if value):  # one that has a number or a time is no header
        return _Head(rows, separator, [f"column_{number}" for number in range(1, len(first) + 1)], False, empty)
    return _Head(rows, separator, first, True, empty + 1)


_LOOKED_AT = 200
"""Lines that are looked at to find out how a file is written."""


def _separator(lines: Sequence[str]) -> str:
    """What stands between the values: there, and as often in most lines."""

    def likely(separator: str) -> tuple[bool, int, int]:
        counts = [line.count(separator) for line in lines]
        usual = mode(counts)
        return usual > 0, counts.count(usual), usual

    return max(_SEPARATORS, key=likely) if lines else ","


_UNREADABLE = 0.05
"""The largest part of the lines that may have another number of values; one may in any case."""


def _table(path: Path, names: Sequence[str], head: _Head) -> tuple[pa.Table, bool, int]:
    """The first rows with all values as texts, whether they are all, and how many lines were passed over.

    Errors: SpecError where too many lines have another number of values, as then something else is wrong.
    """
    passed: list[str] = []

    def pass_over(row: arrow_csv.InvalidRow) -> str:
        passed.append(row.text)
        return "skip"

    reading = arrow_csv.ReadOptions(column_names=list(names), skip_rows=head.skipped)
    parsing = arrow_csv.ParseOptions(delimiter=head.separator, newlines_in_values=True, invalid_row_handler=pass_over)
    texts = arrow_csv.ConvertOptions(
        column_types={name: pa.string() for name in names}, strings_can_be_null=True, null_values=[""]
    )
    batches, number = [], 0
    try:
        for batch in arrow_csv.open_csv(path, reading, parsing, texts):
            batches.append(batch)
            number += batch.num_rows
            if number >= MOST_ROWS:
                break
    except pa.ArrowInvalid as error:
        if "UTF8" in str(error):
            raise _no_utf8(path) from error
        raise SpecError(f"{path}:", "cannot be read as CSV", str(error).splitlines()[0]) from error
    if len(passed) > max(1, _UNREADABLE * number):
        rule = f"must have {len(names)} values in each line: {len(passed)} of {number + len(passed)} lines have others"
        raise SpecError(
            f"{path}:", rule, passed[0].strip(), "remove these lines, or put values with a separator in quotes"
        )
    table = pa.Table.from_batches(batches)
    return table.slice(0, MOST_ROWS), number < MOST_ROWS, len(passed)
