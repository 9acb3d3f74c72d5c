"""How many partitions a shuffle has, by the rows and the cores."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from pyspark.sql.functions import count

from windrow.drivers.spark.session import working_session
from windrow.engine import partitions
from windrow.engine.partitions import (
    ADAPTIVE,
    FEW,
    LARGE,
    PARTITIONS,
    UNKNOWN,
    choose_partitions,
    cores_of,
    partitions_for,
    sized,
)
from windrow.store.delta.log.transactions import Appender


@pytest.mark.parametrize(
    ("rows", "cores", "partitions"),
    [
        (0, 1, 1), (50_000_000, 2, 2),  # few cores: as many
        (0, 64, 2), (50_000, 64, 2), (50_001, 64, 3), (1_000_000, 64, 40), (100_000_000, 64, 64),
        (640_000_001, 64, 128),  # more than the cores can hold at once
        (None, 64, 64), (None, None, 200), (0, None, 2), (10 * UNKNOWN, None, 10),
    ],
)  # fmt: skip
def test_partitions_follow_the_work_and_the_cores(rows: int | None, cores: int | None, partitions: int) -> None:
    assert partitions_for(rows, cores) == partitions


def of(spark: SparkSession) -> tuple[str, str]:
    """The partitions of a session, and whether its plans adapt."""
    return str(spark.conf.get(PARTITIONS)), str(spark.conf.get(ADAPTIVE))


def with_cores(monkeypatch: pytest.MonkeyPatch, cores: int) -> None:
    monkeypatch.setattr("windrow.engine.partitions.cores_of", lambda _: cores)


@pytest.mark.parametrize("wanted", ["1000", "1"])
def test_cores_are_those_that_there_are_whatever_the_default_parallelism(spark: SparkSession, wanted: str) -> None:
    conf, name = spark.sparkContext._jsc.sc().conf(), "spark.default.parallelism"
    there = cores_of(spark)
    conf.set(name, wanted)
    partitions._cores_here.cache_clear()
    try:
        assert spark.sparkContext.defaultParallelism == int(wanted)
        assert cores_of(spark) == there
    finally:
        conf.remove(name)
        partitions._cores_here.cache_clear()


def test_work_has_its_own_number_while_it_lasts(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    with_cores(monkeypatch, 64)
    session = working_session(spark)
    assert of(session) == ("64", "false")
    with sized(session, lambda: 1_000_000):
        assert of(session) == ("40", "false")
        assert of(working_session(session)) == ("64", "false"), "what windrow has chosen is nobody's wish"
        with sized(session):
            assert of(session) == ("64", "false")
        assert of(session) == ("40", "false")
    assert of(session) == ("64", "false")


def test_each_write_of_a_log_has_the_number_of_its_own_work(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with_cores(monkeypatch, 64)
    session, path = working_session(spark), str(tmp_path / "log")
    counted = "TBLPROPERTIES ('delta.dataSkippingNumIndexedCols' = '2')"
    session.sql(f"CREATE TABLE delta.`{path}` (k BIGINT, n BIGINT) USING DELTA {counted}")
    append = Appender(session, path)
    for rows, files in [(1, 2), (150_000, 6), (1, 2)]:
        append.begin(session)
        with sized(session, lambda rows=rows: rows):
            grouped = session.range(0, 1000).selectExpr("id % 100 AS k").groupBy("k").agg(count("*").alias("n"))
            assert len(append.write(grouped)) == files


def test_large_work_is_planned_as_it_goes(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    with_cores(monkeypatch, 64)
    session = working_session(spark)
    with sized(session, lambda: LARGE):
        assert of(session) == ("64", "true")
    with sized(session, lambda: LARGE - 1):
        assert of(session) == ("64", "false")
    assert of(session) == ("64", "false")


def test_a_batch_is_planned_as_it_goes_and_ticks_beside_it_are_not(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_cores(monkeypatch, 64)
    session = working_session(spark)
    choose_partitions(session, session, is_batch=True)
    assert of(session) == ("256", "true")
    with sized(session, lambda: 1):
        assert of(session) == ("2", "false")
    assert of(session) == ("256", "true")
    with_cores(monkeypatch, FEW)
    choose_partitions(session, session, is_batch=True)
    assert of(session) == ("2", "false")


@pytest.mark.parametrize(("name", "said"), [(PARTITIONS, "7"), (ADAPTIVE, "true"), (ADAPTIVE, "false")])
def test_what_the_user_says_stays(spark: SparkSession, monkeypatch: pytest.MonkeyPatch, name: str, said: str) -> None:
    with_cores(monkeypatch, 64)
    caller = spark.newSession()
    caller.conf.set(name, said)
    session = working_session(caller)
    for rows in (1, 2 * LARGE):
        with sized(session, partial(int, rows)):
            assert session.conf.get(name) == working_session(session).conf.get(name) == said
    other = ADAPTIVE if name == PARTITIONS else PARTITIONS
    with sized(session, lambda: 2 * LARGE):
        assert session.conf.get(other) == {ADAPTIVE: "true", PARTITIONS: "64"}[other]


def test_a_number_that_is_set_later_stays(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    with_cores(monkeypatch, 64)
    session = working_session(spark)
    session.conf.set(PARTITIONS, "7")
    with sized(session, lambda: 1_000_000):
        assert session.conf.get(PARTITIONS) == working_session(session).conf.get(PARTITIONS) == "7"


def test_on_few_cores_the_jvm_is_not_asked(spark: SparkSession) -> None:
    """A tick on a small machine costs what it would cost without: what is asked there is asked once."""
    session = spark.newSession()
    if cores_of(session) > FEW:
        pytest.skip("this machine has more than a few cores")

    class Unasked:
        _sc = sparkContext = session.sparkContext

        @property
        def conf(self) -> None:
            raise AssertionError("a call of the JVM")

    def rows() -> int:
        raise AssertionError("a look at files")

    with sized(Unasked(), rows):  # type: ignore[arg-type]
        pass
