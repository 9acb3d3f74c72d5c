"""Files that are made without Hadoop on a local disk: one of many makes a commit, and a copy is as good as new."""

from __future__ import annotations

import json
import os
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from windrow.store.delta.file_system import copy_file, local_path, write_file
from windrow.store.delta.log.commit_files import CommitFiles
from windrow.store.delta.log.log_store import VersionTaken, delta_log, put
from windrow.store.delta.log.put_if_absent import LINKING
from windrow.store.delta.log.transactions import Appender


@pytest.fixture
def table(spark: SparkSession, tmp_path: Path) -> str:
    path = str(tmp_path / "table with a space")
    spark.range(3).write.format("delta").save(path)
    return path


def _refuse(*_: object) -> None:
    raise PermissionError("no links here")


@pytest.mark.parametrize("links", [True, False], ids=["by a link", "by the log store"])
def test_one_of_many_has_a_version(
    spark: SparkSession, table: str, monkeypatch: pytest.MonkeyPatch, links: bool
) -> None:
    if not links:
        monkeypatch.setattr(os, "link", _refuse)
    log = delta_log(spark, table)
    _check_linking(spark, log, table)

    def tried(number: int) -> bool:
        try:
            put(spark, log, table, 1, [json.dumps({"commitInfo": {"userMetadata": str(number)}})])
        except VersionTaken:
            return False
        return True

    with ThreadPoolExecutor(8) as pool:
        taken = list(pool.map(tried, range(8)))
    assert sum(taken) == 1
    assert list(CommitFiles(spark, table).after(0)) == [(1, str(taken.index(True)))]
    assert not [name for name in os.listdir(f"{table}/_delta_log") if name.endswith(".tmp")]
    assert not Path(table, "_delta_log", f".{1:020}.json.crc").exists(), "Hadoop has made it, which looks and renames"


def _check_linking(spark: SparkSession, log: Any, table: str) -> None:
    """What Delta would put there, and what is put by its log store, makes links, too."""
    java: Any = spark._jvm
    path = java.org.apache.hadoop.fs.Path(f"{table}/_delta_log/1.json")
    qualified = path.getFileSystem(log.newDeltaHadoopConf()).makeQualified(path)
    assert log.store().getDelegate(qualified).logStoreImpl().getClass().getName() == LINKING


def test_delta_goes_on_behind_it(spark: SparkSession, table: str) -> None:
    append = Appender(spark, table)
    append.begin(spark)
    append.write(spark.range(2))
    append.commit("app", 1, "{}")
    spark.range(1).write.format("delta").mode("append").save(table)
    assert spark.read.format("delta").load(table).count() == 6


def test_a_log_store_of_the_user_s_own_is_used(
    spark: SparkSession, table: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "link", _refuse)
    spark.conf.set("spark.delta.logStore.class", "io.delta.storage.HDFSLogStore")
    try:
        put(spark, delta_log(spark, table), table, 1, ['{"commitInfo": {}}'])
    finally:
        spark.conf.unset("spark.delta.logStore.class")
    assert Path(table, "_delta_log", f"{1:020}.json").read_text() == '{"commitInfo": {}}\n'


def test_a_copy_is_as_new_as_it_is(spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """VACUUM keeps what is new, also what no commit has added yet."""
    here = tmp_path / "here"
    for number in range(2):
        write_file(spark, str(here), b"rows")
        os.utime(here, (1, 1))
        there = tmp_path / f"there {number}"
        copy_file(spark, str(here), f"file:{there}")
        assert there.read_bytes() == b"rows" and there.stat().st_mtime > time.time() - 60
        monkeypatch.setattr(os, "link", _refuse)  # the second time
    assert local_path(spark, "file:///a/b%20c") == Path("/a/b%20c")
