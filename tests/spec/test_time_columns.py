"""Columns that hold a time: which patterns there are, and what is said of those that are none."""

from __future__ import annotations

import pytest

from windrow.spec.errors import SpecError
from windrow.spec.fields.schemas import Schema
from windrow.spec.sources.time_columns import TimeColumn, TimeFormat, TimePattern


@pytest.mark.parametrize(
    "pattern",
    [
        "dd.MM.yyyy HH:mm",
        "d/M/yy",
        "M/d/yyyy h:mm:ss a",
        "yyyyMMdd",
        "yyyy-MM-dd'T'HH:mm[:ss[.SSS]]",
        "d MMM yyyy, HH:mm",
    ],
)
def test_a_pattern_without_an_offset_is_of_a_zone(pattern: str) -> None:
    column = TimeColumn("at", pattern, "Europe/Berlin")
    assert column.format == TimePattern(pattern)
    assert column.to_mapping() == {"column": "at", "format": pattern, "zone": "Europe/Berlin"}
    assert TimeColumn.from_mapping(column.to_mapping()) == column
    with pytest.raises(SpecError, match="zone must be given"):
        TimeColumn("at", pattern)


@pytest.mark.parametrize("offset", ["X", "XX", "XXX", "x", "xx", "xxx", "Z"])
def test_a_pattern_with_an_offset_has_no_zone(offset: str) -> None:
    pattern = f"dd.MM.yyyy HH:mm {offset}"
    assert TimeColumn("at", pattern).to_mapping() == {"column": "at", "format": pattern}
    with pytest.raises(SpecError, match="zone is not for"):
        TimeColumn("at", pattern, "UTC")


@pytest.mark.parametrize(
    ("pattern", "said"),
    [
        ("EEE dd.MM.yyyy", "has EEE, which no time is read by"),
        ("dd.MM.yyyyy", "has yyyyy, which no time is read by"),
        ("dd.MM.YYYY", "has YYYY, which no time is read by"),
        ("dd.MM HH:mm", r"must have y \(year\)"),
        ("yyyy HH:mm", r"must have M \(month\), d \(day\)"),
        ("dd.MM.yyyy hh:mm", "must have h and a together"),
        ("dd.MM.yyyy HH:mm a", "has hours of 24 and of 12"),
        ("dd.MM.yyyy mm", "has m without H"),
        ("dd.MM.yyyy HH.ss", "has s without m"),
        ("dd.MM.yyyy HH:mm dd", "has d twice"),
        ("dd.MM.yyyy [HH:mm", r"has a \[ without its \]"),
        ("dd.MM.yyyy HH:mm]", r"has a \] without its \["),
        ("dd.MM.[yyyy]", "has yyyy in brackets"),
        ("dd.MM.yyyy; HH", "has ;, which stands for nothing"),
        ("dd.MM.yyyy 'um HH", "has ', which stands for nothing"),
    ],
)
def test_what_is_no_pattern(pattern: str, said: str) -> None:
    with pytest.raises(SpecError, match=f"format {said}"):
        TimeColumn("at", pattern, "UTC")


@pytest.mark.parametrize("name", ["rfc3339", "iso", 7, None])
def test_other_names_are_told_what_there_is(name: object) -> None:
    with pytest.raises(
        SpecError, match=r"format must be one of timestamp, iso8601, .* or a pattern such as dd.MM.yyyy"
    ):
        TimeColumn.from_mapping({"column": "at", "format": name})


@pytest.mark.parametrize(
    ("form", "fits"),
    [("dd.MM.yyyy", {"string"}), ("iso8601", {"string"}), ("unix_s", {"bigint", "double"}), ("timestamp", {"date"})],
)
def test_a_format_is_for_columns_of_a_type(form: str, fits: set[str]) -> None:
    for kind in ("string", "bigint", "double", "date"):
        column = TimeColumn("at", form, "UTC")
        if kind in fits:
            column.check_type(Schema({"at": kind}))
            continue
        with pytest.raises(SpecError, match="format does not fit the type of at"):
            column.check_type(Schema({"at": kind}))


def test_the_format_is_a_timestamp_unless_it_is_said() -> None:
    assert TimeColumn("at").format is TimeFormat.TIMESTAMP


def test_a_time_of_day_is_a_second_column_of_texts() -> None:
    column = TimeColumn("day", "dd.MM.yyyy HH:mm", "UTC", "time")
    assert column.columns == ("day", "time")
    assert column.to_mapping() == {"column": "day", "format": "dd.MM.yyyy HH:mm", "zone": "UTC", "time_of_day": "time"}
    column.check_type(Schema({"day": "string", "time": "string"}))
    with pytest.raises(SpecError, match="time_of_day must be a column of texts, not of int"):
        column.check_type(Schema({"day": "string", "time": "int"}))
    with pytest.raises(SpecError, match="time_of_day must be another column"):
        TimeColumn("day", "iso8601", "UTC", "Day")
    with pytest.raises(SpecError, match="time_of_day is for times in texts"):
        TimeColumn("day", "unix_s", time_of_day="time")
