"""The headers of CSV files: which file is read by the order of the schema, and which by its own names."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import pytest

from windrow.sources.csv_headers import UnreadableFile, by_header, columns_in_folders, columns_of, header_of
from windrow.spec.fields.schemas import Schema
from windrow.spec.sources.fields import Fields
from windrow.spec.sources.files import Files

FIELDS = Fields(Schema.parse("k string, v bigint, at string"), {"moment": "at"})
FILES = Files(path="data", format="csv")
NO_SPARK: Any = None
"""Files of this machine are read without."""


def header(root: Path, content: bytes | str, name: str = "a.csv") -> tuple[str, ...] | None:
    data = content.encode() if isinstance(content, str) else content
    (root / name).write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    return header_of(NO_SPARK, FIELDS, FILES, f"file:{root / name}")


@pytest.mark.parametrize(
    "text", ["k,v,at\n1,2,3\n", "\n  \nK, V ,At\r\n", '"k","v","at"', "\ufeffk,v,at\n", "", "\n\n"]
)
def test_a_file_that_is_read_by_the_order_of_the_schema(tmp_path: Path, text: str) -> None:
    assert header(tmp_path, text) is None


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("k,at,v", ("k", "at", "v")), ("k,v", ("k", "v")), ("k,v,moment", ("k", "v", "moment")),
        ('"a, b",v', ("a, b", "v")), ("k,v,at,", ("k", "v", "at", "")),
    ],
)  # fmt: skip
def test_a_file_that_is_read_by_its_header(tmp_path: Path, text: str, found: tuple[str, ...]) -> None:
    assert header(tmp_path, text) == found
    assert header(tmp_path, text, "a b.csv.gz") == found


@pytest.mark.parametrize("content", [b"\xff\xfe\x00", b"\x1f\x8b\x08\x00"])
def test_who_reads_the_rows_says_what_is_wrong_with_a_file(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "a.csv.gz").write_bytes(content)
    assert header_of(NO_SPARK, FIELDS, FILES, f"file:{tmp_path}/a.csv.gz") is None
    assert header_of(NO_SPARK, FIELDS, FILES, f"file:{tmp_path}/gone.csv") is None


def test_values_have_the_types_of_their_columns() -> None:
    found = columns_of(FIELDS, ("V", "colour", "moment", "v", "k"))
    assert list(found.items()) == [
        ("v", "bigint"), ("_unread_1", "string"), ("moment", "string"), ("_unread_3", "string"), ("k", "string")
    ]  # fmt: skip
    with pytest.raises(UnreadableFile, match=r"its header names no column of the schema \(one, two\)"):
        columns_of(FIELDS, ("one", "two"))


def test_columns_in_the_names_of_folders_are_in_no_header(tmp_path: Path) -> None:
    fields = Fields(Schema.parse("k string, day int, v bigint"), {})
    files = Files(path=f"{tmp_path}/year=1/data", format="csv")
    folder = tmp_path / "year=1" / "data" / "day=1"
    folder.mkdir(parents=True)
    for name, text in {"a": "k,v", "b": "v,k"}.items():
        (folder / f"{name}.csv").write_text(text)
    paths = [f"file:{folder}/{name}.csv" for name in "ab"]
    assert columns_in_folders(files, paths[0]) == {"day"}
    assert by_header(NO_SPARK, fields, files, paths) == {None: paths[:1], ("v", "k"): paths[1:]}
    assert [*columns_of(fields, ("v", "k"), frozenset({"day", "year"}))] == ["v", "k", "day"]


def test_files_with_one_header_are_read_together(tmp_path: Path) -> None:
    for name, text in {"a": "k,v,at", "b": "v,k", "c": "v,k", "d": "k,v,at"}.items():
        (tmp_path / f"{name}.csv").write_text(text)
    paths = [f"file:{tmp_path}/{name}.csv" for name in "abcd"]
    found = by_header(NO_SPARK, FIELDS, Files(path="x", format="csv"), paths)
    assert found == {None: [paths[0], paths[3]], ("v", "k"): paths[1:3]}
    without = by_header(NO_SPARK, FIELDS, Files(path="x", format="csv", header=False), paths)
    assert without == {None: paths} == by_header(NO_SPARK, FIELDS, Files(path="x"), paths)
