"""The questions of docs/questions.md with their answers, and what asks them: the page is what is tested."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pyarrow as pa

import windrow
from demo.flights import write_landing_files
from tests.spec.pages import PAGES, blocks

FILE = Path(__file__).parents[2] / "conf/pipelines/flights.yaml"
LOADED = 'windrow.load("conf/pipelines/flights.yaml")'
AIRLINES = {
    "carrier": ["9E", "AA", "AS", "B6", "DL", "EV", "F9", "FL", "HA", "MQ", "OO", "UA", "US", "VX", "WN", "YV"],
    "name": [
        "Endeavor Air", "American Airlines", "Alaska Airlines", "JetBlue Airways", "Delta Air Lines", "ExpressJet",
        "Frontier Airlines", "AirTran Airways", "Hawaiian Airlines", "Envoy Air", "SkyWest Airlines",
        "United Air Lines", "US Airways", "Virgin America", "Southwest Airlines", "Mesa Airlines",
    ],
}  # fmt: skip
Rows = list[tuple[Any, ...]]


@dataclass(frozen=True)
class Question:
    """One question: its number, and what answers it in SQL and in Polars."""

    number: int
    sql: str
    polars: str


def questions() -> list[Question]:
    """All of the page, in order."""
    parts = re.split(r"^### (\d+)\. .*$", PAGES["questions"], flags=re.M)
    pairs = zip(parts[1::2], parts[2::2], strict=True)
    return [Question(int(number), *blocks(text, "sql"), *blocks(text, "python")) for number, text in pairs]


def flights(root: Path, files: int) -> windrow.Pipeline:
    """The pipeline of the flights over the first files of January, of two days each, with its lake beside them."""
    for path in write_landing_files(root / "data", hours_per_file=48)[files:]:
        path.unlink()
    settings = {"lake": str(root / "lake"), "sources.departures.files.path": str(root / "data")}
    return windrow.load(FILE, settings)


@dataclass(frozen=True)
class InPolars:
    """What the page defines before the first question, over a pipeline's lake as it stands now."""

    names: Mapping[str, Any]

    @classmethod
    def over(cls, pipeline: windrow.Pipeline) -> InPolars:
        (text,) = blocks(PAGES["questions"].split("## Dashboards")[0], "python")
        assert LOADED in text
        names: dict[str, Any] = {"made": pipeline, "airlines": pl.LazyFrame(AIRLINES)}
        exec(text.replace(LOADED, "made"), names)
        return cls(names)

    def answer(self, question: Question) -> pa.Table:
        names = dict(self.names)
        exec(question.polars, names)
        answer = names["answer"]
        return (answer.collect() if isinstance(answer, pl.LazyFrame) else answer).to_arrow()


def in_duckdb(pipeline: windrow.Pipeline) -> duckdb.DuckDBPyConnection:
    """A DuckDB with the names of a pipeline, and the airlines."""
    connection = duckdb.connect()
    connection.execute("SET TimeZone = 'UTC'")
    windrow.views(pipeline, connection)
    connection.register("airlines", pa.table(AIRLINES))
    return connection


def rows_of(table: pa.Table) -> Rows:
    """The rows of an answer: times as microseconds, whole numbers as such, whatever the engine takes for them."""
    columns = []
    for column in table.columns:
        is_time = pa.types.is_timestamp(column.type)
        columns.append(column.cast(pa.timestamp("us", column.type.tz)).cast(pa.int64()) if is_time else column)
    return [tuple(map(_plain, row)) for row in zip(*[column.to_pylist() for column in columns], strict=True)]


def _plain(value: Any) -> Any:
    return int(value) if isinstance(value, Decimal) and value == value.to_integral_value() else value


def assert_same(one: Rows, other: Rows, names: Sequence[str], others: Sequence[str]) -> None:
    """Both have the same columns and rows, floating-point numbers within 1e-9."""
    assert list(names) == list(others)
    assert len(one) == len(other)
    for left, right in zip(one, other, strict=True):
        for value, meant in zip(left, right, strict=True):
            is_close = isinstance(value, float) and math.isclose(value, meant, rel_tol=1e-9)
            assert is_close or value == meant, (left, right)
