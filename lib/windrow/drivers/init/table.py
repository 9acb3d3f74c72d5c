"""A CSV file as columns of text, and what type each has. No Spark: Arrow reads it."""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.compute as pc  # type: ignore[import-untyped]
import pyarrow.csv as arrow_csv  # type: ignore[import-untyped]

from windrow.spec.errors import SpecError
from windrow.view.init.guess import Column

MOST_ROWS = 1_000_000
"""So many rows are looked at."""
_HEAD = 64 * 1024
_SEPARATORS = ",;\t|"

_KINDS = {
    "bigint": r"^-?\d{1,18}$",
    "double": r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$",
    "boolean": r"^(?i:true|false)$",
}
"""Types of which all values of a column match the pattern, the first that fits."""
_DECIMAL_COMMA = r"^[+-]?\d+,\d+$"
ISO = r"^\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?)?"
_IS_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
OFFSET = r"(Z|[+-]\d{2}(:?\d{2})?)"


@dataclass(frozen=True)
class Texts:
    """The first rows of a file, all values as texts; null where they are empty. Columns have their names in windrow."""

    table: pa.Table
    columns: Sequence[Column]
    has_header: bool
    separator: str
    is_whole: bool

    def of(self, name: str) -> pa.ChunkedArray:
        """The texts of a column."""
        return self.table[name]

    def kind(self, name: str) -> str:
        """The type of a column."""
        return next(column.kind for column in self.columns if column.name == name)


def read(path: Path) -> Texts:
    """The columns of a CSV file. Errors: SpecError for a file that cannot be read, or is empty."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            head = file.read(_HEAD)
    except OSError as error:
        raise SpecError(f"{path}:", "cannot be read", error.strerror) from error
    except UnicodeDecodeError as error:
        raise SpecError(f"{path}:", "must be a text in UTF-8") from error
    separator = _separator(head)
    rows = [row for row in csv.reader(head.splitlines()[:200], delimiter=separator) if row]
    if len(rows) < 2:
        raise SpecError(f"{path}:", "must have rows", None, "a header and a row at least")
    headers, has_header = _headers(rows)
    _check_unlike(path, headers)
    names = _named(headers)
    table, is_whole = _table(path, names, has_header, separator)
    columns = [_column(name, header, table[name]) for name, header in zip(names, headers, strict=True)]
    return Texts(table, columns, has_header, separator, is_whole)


def _separator(head: str) -> str:
    """What stands between the values: of those that are usual, the one that is most often in the first line."""
    first = next((line for line in head.splitlines() if line.strip()), "")
    return max(_SEPARATORS, key=first.count)


def _headers(rows: Sequence[Sequence[str]]) -> tuple[list[str], bool]:
    """The names in the first line; one that has a number or a time is no header."""
    first = [value.strip() for value in rows[0]]
    plain = re.compile("|".join([_KINDS["double"], ISO]))
    if any(value == "" or plain.match(value) for value in first):
        return [f"column_{number}" for number in range(1, len(first) + 1)], False
    return first, True


def _check_unlike(path: Path, headers: Sequence[str]) -> None:
    """A column is read by the name in the header, whatever its case."""
    seen: set[str] = set()
    for header in headers:
        if header.lower() in seen:
            raise SpecError(f"{path}:", "must have a name of its own for each column", header, "change the first line")
        seen.add(header.lower())


def _named(headers: Sequence[str]) -> list[str]:
    """Names of letters, digits and `_`, unlike each other whatever their case; a header that is one stays as it is."""
    taken = {header.lower() for header in headers if _IS_NAME.fullmatch(header)}
    return [header if _IS_NAME.fullmatch(header) else _name_for(header, taken) for header in headers]


def _name_for(header: str, taken: set[str]) -> str:
    """A name that is like the header and is not taken; it is from then on."""
    plain = re.sub(r"[^A-Za-z0-9]+", "_", header).strip("_") or "column"
    plain = f"column_{plain}" if plain[0].isdigit() else plain
    name, number = plain, 2
    while name.lower() in taken:
        name, number = f"{plain}_{number}", number + 1
    taken.add(name.lower())
    return name


def _table(path: Path, names: Sequence[str], has_header: bool, separator: str) -> tuple[pa.Table, bool]:
    """The first rows with all values as texts, and whether they are all."""
    reading = arrow_csv.ReadOptions(column_names=list(names), skip_rows=1 if has_header else 0)
    parsing = arrow_csv.ParseOptions(delimiter=separator, newlines_in_values=True)
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
        raise SpecError(f"{path}:", "cannot be read as CSV", str(error).splitlines()[0]) from error
    table = pa.Table.from_batches(batches)
    return table.slice(0, MOST_ROWS), number < MOST_ROWS


def _column(name: str, header: str, values: pa.ChunkedArray) -> Column:
    known = values.drop_null()
    if len(known) == 0:
        return Column(name, header, "string", "has no values")
    for kind, pattern in _KINDS.items():
        fits = pc.sum(pc.match_substring_regex(known, pattern)).as_py() or 0
        if fits == len(known):
            return Column(name, header, kind)
        if fits > 0.9 * len(known):
            other = known.filter(pc.invert(pc.match_substring_regex(known, pattern)))
            rest = len(known) - fits
            note = f"{rest} of its values are no {kind}, for instance {other[0].as_py()!r}, so it is read as text"
            return Column(name, header, "string", note)
    decimals = pc.sum(pc.match_substring_regex(known, _DECIMAL_COMMA)).as_py() or 0
    note = f"numbers with a decimal comma are text; in expressions: cast(replace({name}, ',', '.') AS double)"
    return Column(name, header, "string", note if decimals == len(known) else "")
