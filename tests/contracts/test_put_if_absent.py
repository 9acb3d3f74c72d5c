"""Which lakes are refused because two drivers would overwrite each other's commits there."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from windrow.spec.errors import SpecError
from windrow.store.delta.log import put_if_absent
from windrow.store.delta.log.put_if_absent import LINKING, LOG_STORE, check_put_if_absent

ROOT = Path(__file__).parents[2]


def with_log_store(monkeypatch: pytest.MonkeyPatch, name: str | None) -> None:
    """As in a session that was started with that log store; Delta takes it from there alone."""
    monkeypatch.setattr(put_if_absent, "_log_store", lambda *_: name)


@pytest.mark.parametrize(
    "lake", ["/data/lake", "file:///data/lake", "hdfs://there/lake", "abfss://a@b/lake", "gs://b/lake"]
)
def test_what_a_session_of_windrow_s_own_may_write_to(spark: SparkSession, lake: str) -> None:
    check_put_if_absent(spark, lake)


@pytest.mark.parametrize("lake", ["s3a://bucket/lake", "S3://bucket/lake"])
def test_s3_without_what_makes_it_safe_is_refused_with_the_mend(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch, lake: str
) -> None:
    for name in (None, "io.delta.storage.S3SingleDriverLogStore", "io.delta.storage.GCSLogStore"):
        with_log_store(monkeypatch, name)
        with pytest.raises(
            SpecError, match=r"^lake must be where one of two drivers has a commit.* on s3a?://"
        ) as told:
            check_put_if_absent(spark, lake)
        assert "make setup EXTRA=s3" in str(told.value) and f".impl={LOG_STORE}" in str(told.value)


def test_a_command_refuses_s3_where_it_is_not_set_up(tmp_path: Path) -> None:
    """In an environment as `make setup` leaves it, without EXTRA=s3."""
    jars = tmp_path / "windrow-jars"
    jars.mkdir()
    for jar in Path(sys.prefix, jars.name).glob("*.jar"):
        (jars / jar.name).symlink_to(jar)
    words = ["run", "conf/pipelines/flights.yaml", "--once", "--set", "lake=s3a://bucket/lake"]
    call = f"import sys; sys.prefix = {str(tmp_path)!r}; from windrow.cli import main; main({words})"
    done = subprocess.run([sys.executable, "-c", call], capture_output=True, text=True, cwd=ROOT, timeout=200)
    assert done.returncode == 2, done.stderr[-3000:]
    assert "on s3a:// Delta overwrites what another has put" in done.stderr and "make setup EXTRA=s3" in done.stderr


@pytest.mark.parametrize("lake", ["/data/lake", "file:///data/lake"])
def test_a_local_disk_with_a_log_store_of_delta_s_is_refused_with_the_mend(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch, lake: str
) -> None:
    for name in (None, "io.delta.storage.HDFSLogStore", "org.apache.spark.sql.delta.storage.LocalLogStore"):
        with_log_store(monkeypatch, name)
        with pytest.raises(
            SpecError, match=r"^lake must be where one of two drivers has a commit.* on a local disk"
        ) as told:
            check_put_if_absent(spark, lake)
        assert "windrow.local_session()" in str(told.value) and f"file.impl={LINKING}" in str(told.value)


def test_a_disk_without_hard_links_is_refused(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "link", refuse)
    with pytest.raises(SpecError, match=r"this file system makes no hard links \(Operation not permitted\)"):
        check_put_if_absent(spark, str(tmp_path / "lake"))
    assert not [*tmp_path.iterdir()]
    monkeypatch.undo()
    check_put_if_absent(spark, str(tmp_path / "lake"))
    assert not [*tmp_path.iterdir()]


@pytest.mark.parametrize("lake", ["hdfs://there/lake", "abfss://a@b/lake"])
def test_a_log_store_that_shows_a_half_of_a_commit_is_refused_where_files_grow(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch, lake: str
) -> None:
    for name in ("org.apache.spark.sql.delta.storage.S3SingleDriverLogStore", "io.delta.storage.GCSLogStore"):
        with_log_store(monkeypatch, name)
        with pytest.raises(SpecError, match=r"on \w+:// \w+LogStore shows a commit before it is whole"):
            check_put_if_absent(spark, lake)
    with_log_store(monkeypatch, "io.delta.storage.GCSLogStore")
    check_put_if_absent(spark, "gs://bucket/lake")


def test_a_mount_may_lead_anywhere_so_the_user_says_who_puts_commits(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(
        SpecError, match=r"viewfs:// may lead to any file system.*viewfs\.impl=io\.delta\.storage\.HDFS"
    ):
        check_put_if_absent(spark, "viewfs://there/lake")
    with_log_store(monkeypatch, "io.delta.storage.HDFSLogStore")
    check_put_if_absent(spark, "viewfs://there/lake")


def test_the_user_s_own_choice_is_taken(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("io.delta.storage.S3DynamoDBLogStore", "their.LogStore"):
        with_log_store(monkeypatch, name)
        check_put_if_absent(spark, "s3a://bucket/lake")
    check_put_if_absent(spark, "/data/lake")


def test_a_scheme_that_nobody_knows_is_refused_by_name(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(SpecError, match=r"on oss:// Delta overwrites .*--conf spark\.delta\.logStore\.oss\.impl=CLASS"):
        check_put_if_absent(spark, "oss://bucket/lake")


def test_our_log_store_needs_a_file_system_that_puts_only_where_there_is_nothing(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_log_store(monkeypatch, LOG_STORE)
    with pytest.raises(SpecError, match=r"^lake cannot be reached: no jar has the file system of oss://"):
        check_put_if_absent(spark, "oss://bucket/lake")
    monkeypatch.setattr(put_if_absent, "local_path", lambda *_: None)  # as if a local disk were an object store
    with pytest.raises(SpecError, match="the file system of file:// puts no object only where there is none"):
        check_put_if_absent(spark, "file:///data/lake")
