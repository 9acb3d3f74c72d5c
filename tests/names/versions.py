"""What a question may have been answered while a stream wrote: by the versions that its tables had in that time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise, product
from math import inf
from pathlib import Path

import duckdb
import pyarrow as pa
import sqlglot
from deltalake import DeltaTable
from sqlglot import exp

import windrow
from tests.names.questions import AIRLINES, Question, Rows, rows_of
from windrow.compile.names.dialects import Opened
from windrow.compile.names.relations import Relation, relations

SLACK = 0.2
"""Seconds by which a commit may be seen later than its file was written."""
Answer = tuple[Rows, list[str]]


@dataclass(frozen=True)
class Reading:
    """An answer that an engine gave between two times, in seconds since 1970."""

    engine: str
    question: Question
    began: float
    ended: float
    answer: Answer


class Versions:
    """The versions of the tables of a pipeline, in a lake on this disk that nobody writes any more."""

    def __init__(self, pipeline: windrow.Pipeline) -> None:
        self.lake = Path(pipeline.lake)
        self.relations = {one.name: one for one in relations(pipeline)}
        self._answers: dict[tuple[int, tuple[int, ...]], Answer] = {}

    def answers(self, reading: Reading) -> Iterator[Answer]:
        """All that may be right: each table that the question reads had one of some versions meanwhile."""
        tables = self._tables(reading.question)
        versions = [self._alive(table, reading.began, reading.ended) for table in tables]
        for chosen in product(*versions):
            known = (reading.question.number, chosen)
            if known not in self._answers:
                self._answers[known] = self._answer(reading.question, dict(zip(tables, chosen, strict=True)))
            yield self._answers[known]

    def has_met_a_commit(self, reading: Reading) -> bool:
        """Whether a table that the question reads was written while it was asked."""
        return any(
            reading.began <= file.stat().st_mtime <= reading.ended
            for table in self._tables(reading.question)
            for file in self._log(table).glob("0*.json")
        )

    def _tables(self, question: Question) -> list[str]:
        """The names of the tables that a question reads, itself or by views."""
        named = {table.name for table in sqlglot.parse_one(question.sql, dialect="duckdb").find_all(exp.Table)}
        read = [self.relations[name] for name in named if name in self.relations]
        return sorted({name for one in read for name in (one.over or (one.name,))})

    def _alive(self, table: str, began: float, ended: float) -> list[int]:
        commits = {int(file.stem): file.stat().st_mtime for file in self._log(table).glob("0*.json")}
        ends = [*(commits[later] for _, later in pairwise(sorted(commits))), inf]
        return [
            version
            for version, end in zip(sorted(commits), ends, strict=True)
            if commits[version] <= ended and end + SLACK >= began
        ]

    def _log(self, table: str) -> Path:
        return self._path(self.relations[table]) / "_delta_log"

    def _answer(self, question: Question, versions: Mapping[str, int]) -> Answer:
        with duckdb.connect() as connection:
            connection.execute("SET TimeZone = 'UTC'")
            connection.register("airlines", pa.table(AIRLINES))
            for name, version in versions.items():
                path = self._path(self.relations[name])
                connection.register(name, DeltaTable(str(path), version=version).to_pyarrow_dataset())
            views = [one for one in self.relations.values() if one.is_view and {*one.over} <= versions.keys()]
            for statement in Opened(("main",), str(self.lake)).statements(views):
                connection.execute(statement)
            table = connection.sql(question.sql).to_arrow_table()
            return rows_of(table), table.column_names

    def _path(self, relation: Relation) -> Path:
        assert relation.folder is not None, relation.name
        return self.lake / relation.folder
