"""A driver that commits to one table beside others: `python -m tests.crash.committer PATH NAME COUNT ACKNOWLEDGED`.

It commits `NAME` with the numbers 0 to COUNT - 1, each once, every other one by Delta's own transaction. A step that
somebody else has taken is tried again as the next one. A driver of that name that was killed left some of them in the
log: it goes on behind these. What it knows to be committed it writes down: number and version.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path

from pyspark.sql import SparkSession

from tests.conftest import INTERPRETED
from windrow.drivers.spark.lakes import lake_session
from windrow.drivers.spark.session import local_session
from windrow.store.delta.commit_files import CommitFiles
from windrow.store.delta.first_commit import make
from windrow.store.delta.location import READABLE, Lake, Location
from windrow.store.delta.log_store import VersionTaken
from windrow.store.delta.retries import StepTaken
from windrow.store.delta.step_log import StepLog
from windrow.store.delta.transactions import CONFLICTS, Appender

APP = "windrow-tests"


def prepared(spark: SparkSession, path: str) -> None:
    """Make the table, unless it is there."""
    schema = spark.range(0).schema
    try:
        make(spark, path, schema, (), READABLE)
    except VersionTaken:
        return


def commit_ours(log: StepLog, spark: SparkSession, step: int, number: int, name: str) -> None:
    """Put the next commit file, as an append of windrow's does."""
    notes = {"name": name, "number": number}
    if not log.begun(spark, step, lambda append: notes):
        raise StepTaken(log.location.path, step, None)


def commit_by_delta(log: StepLog, spark: SparkSession, step: int, number: int, name: str) -> None:
    """Have Delta commit, as it does a MERGE, which finds the next version that is free."""
    append = Appender(spark, log.location.path)
    try:
        append._commit_by_delta([], APP, step, log.metadata(step, {"name": name, "number": number}))
    except CONFLICTS as error:
        raise StepTaken(log.location.path, step, None) from error
    log.verify(spark, step)


WAYS: tuple[Callable[[StepLog, SparkSession, int, int, str], None], ...] = (commit_ours, commit_by_delta)


def done_by(spark: SparkSession, path: str, name: str) -> int:
    """How many numbers of a name stand in the log."""
    found = [json.loads(text or "{}") for _, text in CommitFiles(spark, path).after(0)]
    return 1 + max((one["number"] for one in found if one.get("name") == name), default=-1)


def main() -> None:
    path, name, count, acknowledged = sys.argv[1], sys.argv[2], int(sys.argv[3]), Path(sys.argv[4])
    spark = lake_session(local_session(conf={**INTERPRETED, "spark.driver.memory": "1g"}), Lake.of(path))
    prepared(spark, path)
    log = StepLog(Location(path), APP)
    for number in range(done_by(spark, path, name), count):
        while True:
            last = log.last(spark)
            try:
                WAYS[number % 2](log, spark, 1 if last is None else last.step + 1, number, name)
                break
            except StepTaken:
                continue
        with acknowledged.open("a") as file:
            file.write(f"{number} {log._version}\n")
            file.flush()
            os.fsync(file.fileno())


if __name__ == "__main__":
    main()
