"""How many partitions a shuffle has, by the rows and the cores."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession

from windrow.drivers.spark.session import working_session
from windrow.engine.partitions import PARTITIONS, UNKNOWN, partitions_for, sized


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


def of(spark: SparkSession) -> str:
    return str(spark.conf.get(PARTITIONS))


def test_work_has_its_own_number_while_it_lasts(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("windrow.engine.partitions.cores_of", lambda _: 2)
    session = working_session(spark)
    before = of(session)
    with sized(session, lambda: 1):
        assert of(session) == before == "2", "with two cores there is nothing to choose"
    monkeypatch.setattr("windrow.engine.partitions.cores_of", lambda _: 64)
    with sized(session, lambda: 1_000_000):
        assert of(session) == "40"
        assert of(working_session(session)) == "64", "what windrow has chosen is nobody's wish"
        with sized(session):
            assert of(session) == "64"
        assert of(session) == "40"
    assert of(session) == before


def test_the_user_s_number_stays(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("windrow.engine.partitions.cores_of", lambda _: 64)
    session = working_session(spark)
    session.conf.set(PARTITIONS, "7")
    with sized(session, lambda: 1_000_000):
        assert of(session) == of(working_session(session)) == "7"
