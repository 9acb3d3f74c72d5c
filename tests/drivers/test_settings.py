"""Whose settings of Spark hold in windrow's own sessions: what it needs, then the caller's, then what it would like."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.lake import content, pipeline, write_files
from windrow.drivers.spark.session import group_at_large, local_session, working_session
from windrow.drivers.spark.settings import LOCAL, PREFERRED, REQUIRED, check_submitted, of_own_session
from windrow.drivers.stream.stream import run
from windrow.spec.errors import SpecError

OTHERS = {
    "spark.sql.adaptive.enabled": "true",
    "spark.sql.shuffle.partitions": "5",
    "spark.databricks.delta.snapshotPartitions": "3",
    "spark.databricks.delta.merge.materializeSource": "auto",
}
WRONG = {
    "spark.sql.ansi.enabled": "true",
    "spark.sql.caseSensitive": "true",
    "spark.sql.session.timeZone": "Asia/Tokyo",
    "spark.sql.legacy.timeParserPolicy": "LEGACY",
    "spark.sql.decimalOperations.allowPrecisionLoss": "false",
}


@contextmanager
def having(spark: SparkSession, settings: Mapping[str, str]) -> Iterator[None]:
    """The settings of the caller's session meanwhile."""
    before = {name: str(spark.conf.get(name)) for name in settings}
    for name, value in settings.items():
        spark.conf.set(name, value)
    try:
        yield
    finally:
        for name, value in before.items():
            spark.conf.set(name, value)


def test_the_caller_wins_where_results_stay_right(spark: SparkSession) -> None:
    with having(spark, {**OTHERS, **WRONG}):
        conf = working_session(spark).conf
    assert {name: conf.get(name) for name in REQUIRED} == dict(REQUIRED)
    expected = {**PREFERRED, **OTHERS}
    assert {name: conf.get(name) for name in expected} == expected


def test_a_batch_groups_at_large_unless_the_caller_says_how(spark: SparkSession) -> None:
    name = "spark.sql.codegen.aggregate.fastHashMap.capacityBit"
    session = working_session(spark)
    assert session.conf.get(name, None) is None, "a tick does not"
    group_at_large(session)
    assert session.conf.get(name) == "20"
    spark.conf.set(name, "17")
    try:
        session = working_session(spark)
    finally:
        spark.conf.unset(name)
    group_at_large(session)
    assert session.conf.get(name) == "17"


def test_results_are_the_same_with_the_settings_of_a_cluster(spark: SparkSession, tmp_path: Path) -> None:
    there, here = tmp_path / "there", tmp_path / "here"
    for root in (there, here):
        write_files(root / "data", range(3))
    with having(spark, {**OTHERS, **WRONG}):
        run(pipeline(there), spark, once=True, drain=True)
    run(pipeline(here), spark, once=True, drain=True)
    for name in ("current", "panes", "dead_letters"):
        assert content(spark, there, name) == content(spark, here, name), name
    assert content(spark, here, "panes")


def test_a_setting_that_makes_results_wrong_starts_no_session() -> None:
    with pytest.raises(
        SpecError, match=r"^spark.sql.caseSensitive must be false: columns are found whatever their case"
    ):
        local_session(conf={"spark.sql.caseSensitive": "true"})


def test_what_a_session_of_windrow_s_own_starts_with() -> None:
    given, known = {"spark.sql.adaptive.enabled": "true"}, {"spark.driver.memory": "9g", "spark.jars": "theirs.jar"}
    settings = of_own_session("local[2]", given, known)
    assert settings["spark.sql.adaptive.enabled"] == "true"
    assert "spark.driver.memory" not in settings, "what the cluster says stays as Spark reads it"
    assert settings["spark.jars"].endswith(",theirs.jar") and "delta-spark" in settings["spark.jars"]
    assert LOCAL.items() <= settings.items() and REQUIRED.items() <= settings.items()


@pytest.mark.parametrize("master", ["spark://there:7077", "yarn", "k8s://there"])
def test_executors_elsewhere_can_find_the_driver(master: str) -> None:
    settings = of_own_session(master, {}, {})
    assert not LOCAL.keys() & settings.keys()


def test_a_job_is_refused_for_what_it_was_submitted_with_and_not_for_the_defaults_of_a_cluster() -> None:
    ansi = {"spark.sql.ansi.enabled": "true"}
    with pytest.raises(SpecError, match=r"^spark.sql.ansi.enabled must be false: one row that cannot"):
        check_submitted(ansi, {})
    check_submitted(ansi, ansi)
    check_submitted({**ansi, "spark.submit.deployMode": "cluster"}, {})


def test_s3_is_reached_by_the_variables_that_others_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("windrow.drivers.spark.settings.has_s3", lambda: True)
    for name, value in {"AWS_ENDPOINT_URL": "http://127.0.0.1:9000", "AWS_REGION": "eu-central-1"}.items():
        monkeypatch.setenv(name, value)
    settings = of_own_session("local[2]", {"spark.hadoop.fs.s3a.endpoint.region": "there"}, {})
    s3a = {name.removeprefix("spark.hadoop.fs.s3a."): value for name, value in settings.items() if ".s3a." in name}
    assert s3a == {
        "spark.delta.logStore.s3a.impl": "windrow.ConditionalLogStore", "create.conditional.enabled": "true",
        "endpoint": "http://127.0.0.1:9000", "path.style.access": "true", "connection.ssl.enabled": "false",
        "endpoint.region": "there",
    }  # fmt: skip
    own = of_own_session("local[2]", {"spark.delta.logStore.class": "their.LogStore"}, {})
    assert not any(name.endswith(".impl") and "logStore" in name for name in own), "Delta takes one or the other"
