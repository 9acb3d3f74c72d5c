"""`windrow register` in a metastore that stays, and what it refuses."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
import yaml
from pyspark.sql import SparkSession

from tests.lake import pipeline, write_files
from tests.names.served import COMMAND
from windrow import run
from windrow.drivers.register.settings import served_settings
from windrow.drivers.register.spark import register_names
from windrow.spec.errors import SpecError


@pytest.mark.spark
@pytest.mark.long
def test_names_stay_in_a_metastore(spark: SparkSession, tmp_path: Path) -> None:
    """Another process finds them there, by Hive's own in a folder."""
    write_files(tmp_path / "data", range(2))
    made = pipeline(tmp_path)
    run(made, spark, once=True, drain=True)
    file = tmp_path / "pipeline.yaml"
    file.write_text(yaml.safe_dump(made.to_mapping()))
    settings = {
        "spark.sql.catalogImplementation": "hive",
        "spark.sql.warehouse.dir": str(tmp_path / "warehouse"),
        "spark.hadoop.javax.jdo.option.ConnectionURL": f"jdbc:derby:;databaseName={tmp_path}/metastore;create=true",
    }
    conf = [part for name, value in settings.items() for part in ("--conf", f"{name}={value}")]
    command = [*COMMAND, "register", str(file), "--schema", "ours", "--json", *conf]
    for _ in range(2):  # the second time they are there
        done = subprocess.run(command, capture_output=True, text=True, timeout=170, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        names = {one["name"]: one["kind"] for one in yaml.safe_load(done.stdout)}
        assert names["ours.sums"] == "table" and names["ours.sums_asof"] == "view"


def test_a_text_of_the_pipeline_is_the_same_in_any_session(spark: SparkSession, tmp_path: Path) -> None:
    """Whatever its parser takes for an escape; and its settings are as before."""
    made = pipeline(tmp_path, aggregates={"hits": {"count_if": r"k rlike '\\d\'s'"}}, derive={})
    write_files(tmp_path / "data", range(1))
    run(made, spark, once=True, drain=True)
    theirs = spark.newSession()
    theirs.conf.set("spark.sql.parser.escapedStringLiterals", "true")
    try:
        for session, schema in ((spark, "ours"), (theirs, "theirs")):
            register_names(made, session, schema)
        comments = [
            [row[2] for row in spark.sql(f"DESCRIBE TABLE {schema}.sums_final").collect() if row[0] == "hits"]
            for schema in ("ours", "theirs")
        ]
        assert comments[0] == comments[1] and "rlike" in comments[0][0].lower(), comments
        assert theirs.conf.get("spark.sql.parser.escapedStringLiterals") == "true"
    finally:
        for schema in ("ours", "theirs"):
            spark.sql(f"DROP SCHEMA IF EXISTS {schema} CASCADE")


def test_the_class_path_of_a_server_has_what_the_user_adds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("windrow.drivers.register.settings.session_jars", lambda: ["delta.jar"])
    assert served_settings("here", 1, "there", "/theirs/*")["spark.driver.extraClassPath"] == "delta.jar:/theirs/*"


def test_a_view_of_somebody_else_stays(spark: SparkSession, tmp_path: Path) -> None:
    write_files(tmp_path / "data", range(1))
    made = pipeline(tmp_path)
    run(made, spark, once=True, drain=True)
    spark.sql("CREATE SCHEMA theirs")
    try:
        spark.sql("CREATE VIEW theirs.sums_final AS SELECT 1 AS one")
        with pytest.raises(SpecError, match="is the name of another view"):
            register_names(made, spark, "theirs")
        assert spark.table("theirs.sums_final").columns == ["one"]
        spark.sql("DROP VIEW theirs.sums_final")
        for _ in range(2):
            assert any(one.name == "theirs.sums_final" for one in register_names(made, spark, "theirs"))
    finally:
        spark.sql("DROP SCHEMA theirs CASCADE")


def test_a_catalog_that_ends_with_the_command(spark: SparkSession, tmp_path: Path) -> None:
    from tests.cli.command import windrow as command

    write_files(tmp_path / "data", range(1))
    file = tmp_path / "pipeline.yaml"
    file.write_text(yaml.safe_dump(pipeline(tmp_path).to_mapping()))
    done = command("register", file)
    assert done.code == 2 and "must name a catalog that outlives the command" in done.err
