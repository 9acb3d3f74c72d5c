"""A driver that commits to one table beside others: `python -m tests.crash.committer PATH NAME COUNT ACKNOWLEDGED`.

It commits `NAME` with the numbers 0 to COUNT - 1, each once. Those that are even are steps of a log of windrow's: where
somebody else has taken a step it is tried again as the next one. The others are put by a transaction of Delta's own,
as maintenance is, which looks for a version that is free. A driver of that name that was killed left some of them in
the log: it goes on behind these. What it knows to be committed it writes down: number and version.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

from deltalake import DeltaTable
from pyspark.sql import SparkSession

from tests.conftest import INTERPRETED
from windrow.drivers.spark.lakes import lake_session
from windrow.drivers.spark.session import local_session
from windrow.store.delta.location import READABLE, Lake, Location
from windrow.store.delta.log.commit_files import CommitFiles
from windrow.store.delta.log.first_commit import make
from windrow.store.delta.log.log_store import VersionTaken
from windrow.store.delta.log.retries import StepTaken
from windrow.store.delta.log.step_log import StepLog
from windrow.store.delta.log.transactions import Appender

APP = "windrow-tests"


def prepare(spark: SparkSession, path: str) -> None:
    """Make the table, unless it is there."""
    try:
        make(spark, path, spark.range(0).schema, (), READABLE)
    except VersionTaken:
        return


def commit_step(log: StepLog, spark: SparkSession, name: str, number: int) -> int:
    """Put the next commit file, as an append of windrow's does; its version."""
    notes = {"name": name, "number": number}
    while True:
        last = log.last(spark)
        step = 1 if last is None else last.step + 1
        try:
            assert log.begun(spark, step, lambda append: notes)
            return log._versions[step]
        except StepTaken:
            continue


def commit_by_delta(log: StepLog, spark: SparkSession, name: str, number: int) -> int:
    """Have Delta commit; the version that it has found free."""
    metadata = json.dumps({"name": name, "number": number})
    append = Appender(spark, log.location.path)
    read = append.version
    append._commit_by_delta([], f"{APP}-{name}", number, metadata)
    commits = CommitFiles(spark, log.location.path).after(read)
    return next(version for version, text in commits if text == metadata)


def done_by(path: str, name: str) -> int:
    """How many numbers of a name stand in the log."""
    found = [json.loads(one.get("userMetadata") or "{}") for one in DeltaTable(path).history()]
    return 1 + max((one["number"] for one in found if one.get("name") == name), default=-1)


def main() -> None:
    path, name, count, acknowledged = sys.argv[1], sys.argv[2], int(sys.argv[3]), Path(sys.argv[4])
    spark = lake_session(local_session(conf={**INTERPRETED, "spark.driver.memory": "1g"}, s3=True), Lake.of(path))
    prepare(spark, path)
    log = StepLog(Location(path), APP)
    for number in range(done_by(path, name), count):
        commit = commit_by_delta if number % 2 else commit_step
        version = commit(log, spark, name, number)
        with acknowledged.open("a") as file:
            file.write(f"{number} {version}\n")
            file.flush()
            os.fsync(file.fileno())


if __name__ == "__main__":
    main()
