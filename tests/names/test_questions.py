"""The twenty questions of docs/questions.md in Spark SQL, DuckDB and Polars, over the first days of the flights."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
import pytest
import sqlglot
from sqlglot import exp

import windrow
from tests.names.questions import AIRLINES, InPolars, Question, assert_same, flights, in_duckdb, questions, rows_of

QUESTIONS = questions()
SCHEMA = "questions_of_analysts"


@pytest.fixture(scope="module")
def lake(spark, tmp_path_factory: pytest.TempPathFactory) -> windrow.Pipeline:
    made = flights(tmp_path_factory.mktemp("questions"), files=6)
    windrow.run(made, spark, once=True, drain=True)
    return made


@pytest.fixture(scope="module")
def named(spark, lake: windrow.Pipeline) -> Iterator[list[windrow.Registered]]:
    """The session's catalog has the names, and looks for them there."""
    spark.createDataFrame(pa.table(AIRLINES)).createOrReplaceTempView("airlines")
    try:
        names = windrow.register_names(lake, spark, SCHEMA)
        spark.sql(f"USE {SCHEMA}")
        yield names
    finally:
        spark.sql("USE default")
        spark.sql(f"DROP SCHEMA IF EXISTS {SCHEMA} CASCADE")
        spark.catalog.dropTempView("airlines")


def test_there_are_twenty() -> None:
    assert [question.number for question in QUESTIONS] == list(range(1, 21))


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: str(question.number))
def test_every_engine_reads_the_sql(question: Question) -> None:
    """Also Trino, as far as sqlglot knows it."""
    for dialect in ("spark", "duckdb", "trino"):
        assert isinstance(sqlglot.parse_one(question.sql, dialect=dialect), exp.Select)


def test_spark_duckdb_and_polars_give_the_same_answers(spark, lake: windrow.Pipeline, named: object) -> None:
    connection, polars = in_duckdb(lake), InPolars.over(lake)
    for question in QUESTIONS:
        tables = (
            spark.sql(question.sql).toArrow(),
            connection.sql(question.sql).to_arrow_table(),
            polars.answer(question),
        )
        first, *others = [(rows_of(table), table.column_names) for table in tables]
        assert first[0], f"question {question.number} has no answer"
        for other in others:
            try:
                assert_same(first[0], other[0], first[1], other[1])
            except AssertionError as error:
                raise AssertionError(f"question {question.number}: {error}") from error


def test_the_answers_agree_with_each_other(lake: windrow.Pipeline) -> None:
    """A sum over changes, over the results, and over windows that do not overlap is the same."""
    connection = in_duckdb(lake)
    sums = "SELECT origin, sum(flights) FROM departures_hourly GROUP BY origin ORDER BY origin"
    meant = [(origin, int(number)) for origin, number in connection.sql(sums).fetchall()]
    by_number = {question.number: question for question in QUESTIONS}
    for number in (15, 20):
        assert rows_of(connection.sql(by_number[number].sql).to_arrow_table()) == meant
    newest = connection.sql("SELECT max(tick) FROM departures_hourly_ticks").fetchall()[0][0]
    stood = sums.replace("departures_hourly", "departures_hourly_asof").replace(
        "GROUP", f"WHERE tick <= {newest} AND {newest} < valid_to_tick GROUP"
    )
    assert [(origin, int(number)) for origin, number in connection.sql(stood).fetchall()] == meant


def test_the_comments_stand_beside_the_columns(spark, named: list[windrow.Registered]) -> None:
    assert {one.name.rpartition(".")[2]: one.kind for one in named} == {
        **{f"departures_{name}": "table" for name in ("hourly", "rolling", "dead_letters", "landings")},
        **{f"departures_{stage}_{name}": "table" for stage in ("hourly", "rolling") for name in OF_STAGE},
        **{f"departures_{stage}_{name}": "view" for stage in ("hourly", "rolling") for name in ("final", "asof")},
        "quality_results": "table",
    }
    for name in ("departures_hourly", "departures_hourly_final", "departures_hourly_asof"):
        comments = {field.name: field.metadata.get("comment") for field in spark.table(name).schema.fields}
        assert comments["flights"] == "the number of elements; additive: sum it over keys and windows", name
    (rolling,) = [field for field in spark.table("departures_rolling").schema.fields if field.name == "flights"]
    assert "semi-additive" in rolling.metadata["comment"] and "up to 3" in rolling.metadata["comment"]


OF_STAGE = ("panes", "dead_letters", "ticks")


def test_it_may_be_done_again_and_takes_nothing_from_others(
    spark, lake: windrow.Pipeline, named: object, tmp_path
) -> None:
    again = windrow.register_names(lake, spark, SCHEMA)
    assert all(one.why_not is None for one in again)
    spark.sql(f"DROP VIEW {SCHEMA}.departures_rolling_final")
    spark.sql(f"CREATE TABLE {SCHEMA}.departures_rolling_final (n int) USING delta LOCATION '{tmp_path}/other'")
    with pytest.raises(windrow.SpecError, match=r"departures_rolling_final.* is the name of another table"):
        windrow.register_names(lake, spark, SCHEMA)
    spark.sql(f"DROP TABLE {SCHEMA}.departures_rolling_final")
    spark.sql(f"DROP TABLE {SCHEMA}.departures_rolling")
    spark.sql(f"CREATE TABLE {SCHEMA}.departures_rolling USING delta LOCATION '{tmp_path}/other'")
    with pytest.raises(windrow.SpecError, match="is the name of a table elsewhere"):
        windrow.register_names(lake, spark, SCHEMA)
    spark.sql(f"DROP TABLE {SCHEMA}.departures_rolling")
    windrow.register_names(lake, spark, SCHEMA)
    assert spark.table("departures_rolling").count() > 0


def test_nothing_has_run(spark, tmp_path) -> None:
    made = windrow.load("conf/pipelines/traffic.yaml", {"lake": str(tmp_path / "lake")})
    with pytest.raises(windrow.SpecError, match="has no tables of the pipeline yet"):
        windrow.register_names(made, spark)
