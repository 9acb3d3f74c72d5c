"""Whose settings of Spark hold in windrow's own sessions: what it needs, then the caller's, then what it would like."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.lake import content, pipeline, write_files
from windrow.drivers.spark.connect import check_is_no_server
from windrow.drivers.spark.machine import defaults
from windrow.drivers.spark.session import group_at_large, local_session, working_session
from windrow.drivers.spark.settings import (
    LOCAL,
    PREFERRED,
    REQUIRED,
    check_submitted,
    master_of,
    of_own_session,
    of_submitted_session,
)
from windrow.drivers.stream.stream import run
from windrow.spec.errors import SpecError
from windrow.store.delta.log.put_if_absent import LINKING, LOG_STORE

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
    "spark.sql.files.ignoreCorruptFiles": "true",
    "spark.sql.files.ignoreMissingFiles": "true",
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
    assert settings["spark.submit.deployMode"] == "client"


def test_options_of_the_cluster_s_come_behind_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("SPARK_SUBMIT_OPTS", "JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS"):
        monkeypatch.delenv(name, raising=False)
    name, theirs = "spark.driver.extraJavaOptions", "-Dcluster=here -XX:+UseG1GC -XX:ReservedCodeCacheSize=300m"
    options = of_own_session("local[2]", {}, {name: theirs})[name]
    assert options.endswith(f" {theirs}") and "windrow.log=fatal" in options
    assert options.count("GC") == options.count("ReservedCodeCacheSize") == 1, "a JVM refuses two collectors"
    assert of_own_session("local[2]", {name: "-Dmine=1"}, {name: theirs})[name] == "-Dmine=1"


def test_the_defaults_are_those_of_the_spark_that_is_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for place, text in {"home/conf": "# ours\nspark.master  yarn\n", "chosen": "spark.master=k8s://there\n"}.items():
        (tmp_path / place).mkdir(parents=True)
        (tmp_path / place / "spark-defaults.conf").write_text(text)
    monkeypatch.delenv("SPARK_CONF_DIR", raising=False)
    assert defaults(str(tmp_path / "home")) == {"spark.master": "yarn"}
    monkeypatch.setenv("SPARK_CONF_DIR", str(tmp_path / "chosen"))
    assert defaults(str(tmp_path / "home")) == defaults() == {"spark.master": "k8s://there"}


def test_jars_of_s3_are_for_who_needs_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A JVM looks through all of its jars for what is in none."""
    for name in ("delta-spark.jar", "s3/hadoop-aws.jar", "log-store/windrow-log-store.jar"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    monkeypatch.setattr("windrow.drivers.spark.jvm._folder", lambda: tmp_path)
    with_s3, without = (of_own_session("local[2]", {}, {}, s3=s3) for s3 in (True, False))
    assert [jar.rpartition("/")[2] for jar in with_s3["spark.jars"].split(",")] == [
        "delta-spark.jar", "hadoop-aws.jar", "windrow-log-store.jar",
    ]  # fmt: skip
    assert without["spark.jars"].endswith("/delta-spark.jar") and "s3a" in str(with_s3) and "s3a" not in str(without)


def test_whose_master_holds(monkeypatch: pytest.MonkeyPatch) -> None:
    given, known = {"spark.master": "spark://given:7077"}, {"spark.master": "yarn"}
    monkeypatch.setenv("WINDROW_MASTER", "local[2]")
    assert master_of("local[1]", given, known) == "local[1]"
    assert master_of(None, given, known) == "spark://given:7077"
    assert master_of(None, {}, known) == "local[2]"
    monkeypatch.delenv("WINDROW_MASTER")
    assert (master_of(None, {}, known), master_of(None, {}, {})) == ("yarn", "local[*]")
    assert of_own_session("local[1]", given, known)["spark.master"] == "local[1]", "it is the one that was checked"


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
    with pytest.raises(SpecError, match=r"^spark.sql.catalog.spark_catalog must be org.apache.*DeltaCatalog"):
        of_submitted_session({"spark.sql.catalog.spark_catalog": "their.Catalog"}, {}, ())


def test_a_job_keeps_what_it_was_submitted_with() -> None:
    extensions = "spark.sql.extensions"
    submitted = {"spark.ui.enabled": "true", extensions: "their.Extension"}
    settings = of_submitted_session(submitted, {}, (LINKING,))
    assert "spark.ui.enabled" not in settings and settings["spark.ui.showConsoleProgress"] == "false"
    assert settings[extensions] == "their.Extension,io.delta.sql.DeltaSparkSessionExtension"
    assert not any("s3" in name for name in settings)
    assert settings["spark.delta.logStore.file.impl"] == LINKING
    own = of_submitted_session({"spark.delta.logStore.class": "their.LogStore"}, {}, (LINKING, LOG_STORE))
    assert own["spark.hadoop.fs.s3a.create.conditional.enabled"] == "true"
    assert not any(name.endswith(".impl") for name in own), "Delta takes one log store for all schemes, or one for each"


@pytest.mark.parametrize(("master", "remote"), [("sc://there:15002", None), ("local[2]", "sc://there:15002")])
def test_a_server_of_spark_connect_is_refused_by_name(
    monkeypatch: pytest.MonkeyPatch, master: str, remote: str | None
) -> None:
    if remote is not None:
        monkeypatch.setenv("SPARK_REMOTE", remote)
    place = "--master" if remote is None else "SPARK_REMOTE"
    with pytest.raises(SpecError, match=rf'^{place} must not be Spark Connect: .*got "sc://there:15002"'):
        check_is_no_server(master)


def test_the_token_of_a_server_of_spark_connect_is_not_shown() -> None:
    with pytest.raises(SpecError, match=r'got "sc://there:15002"') as told:
        check_is_no_server("sc://there:15002/;use_ssl=true;token=hidden")
    assert "hidden" not in str(told.value)


def test_s3_is_reached_by_the_variables_that_others_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("windrow.drivers.spark.settings.has_s3", lambda: True)
    for name in ("AWS_ENDPOINT_URL_S3", "AWS_DEFAULT_REGION", "AWS_VIRTUAL_HOSTED_STYLE_REQUEST"):
        monkeypatch.delenv(name, raising=False)
    for name, value in {"AWS_ENDPOINT_URL": "http://127.0.0.1:9000", "AWS_REGION": "eu-central-1"}.items():
        monkeypatch.setenv(name, value)
    settings = of_own_session("local[2]", {"spark.hadoop.fs.s3a.endpoint.region": "there"}, {}, s3=True)
    s3a = {name.removeprefix("spark.hadoop.fs.s3a."): value for name, value in settings.items() if ".s3a." in name}
    assert s3a == {
        "spark.delta.logStore.s3a.impl": "windrow.ConditionalLogStore", "create.conditional.enabled": "true",
        "endpoint": "http://127.0.0.1:9000", "path.style.access": "true", "connection.ssl.enabled": "false",
        "endpoint.region": "there",
    }  # fmt: skip
    own = of_own_session("local[2]", {"spark.delta.logStore.class": "their.LogStore"}, {}, s3=True)
    assert not any(name.endswith(".impl") and "logStore" in name for name in own), "Delta takes one or the other"
