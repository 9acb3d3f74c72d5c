"""Two drivers commit to one table on S3, are killed and go on: no commit is lost, and none is there twice."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from deltalake import DeltaTable

from tests.object_store import BUCKET, NoObjectStore, ObjectStore, object_store
from tests.servers import free_port
from windrow.drivers.spark.jvm import has_s3

pytestmark = [
    pytest.mark.crash,
    pytest.mark.skipif(not has_s3(), reason="the jars of S3 are not set up: make setup EXTRA=s3"),
]
TABLE = f"s3a://{BUCKET}/lake/table"
NAMES = ("here", "there")


@pytest.fixture
def store(request: pytest.FixtureRequest) -> Iterator[ObjectStore]:
    """A server that loses every so many-th answer, if the test says so."""
    try:
        with object_store(free_port(), getattr(request, "param", 0)) as made:
            yield made
    except NoObjectStore as missing:
        pytest.skip(str(missing))


def started(store: ObjectStore, name: str, count: int, folder: Path) -> subprocess.Popen[bytes]:
    words = [sys.executable, "-m", "tests.crash.committer", TABLE, name, str(count), str(folder / name)]
    environment = {**os.environ, **store.environment}
    with (folder / f"{name}.log").open("ab") as log:
        return subprocess.Popen(words, env=environment, start_new_session=True, stdout=log, stderr=log)


def acknowledged(folder: Path, name: str) -> dict[int, int]:
    """The versions by numbers that a driver has been told are committed."""
    file = folder / name
    lines = file.read_text().splitlines() if file.exists() else []
    return {int(number): int(version) for number, version in map(str.split, lines)}


def commit(store: ObjectStore, folder: Path, count: int, kills: int = 0) -> None:
    """Both drivers at once, until each has made its commits; so many times one of them is killed at some moment."""
    chance = random.Random(20)
    running = {name: started(store, name, count, folder) for name in NAMES}
    for _ in range(kills):
        name = chance.choice(NAMES)
        before = len(acknowledged(folder, name))
        while running[name].poll() is None and len(acknowledged(folder, name)) < before + count // (2 * kills):
            time.sleep(0.05)
        time.sleep(chance.random() / 10)
        os.killpg(running[name].pid, signal.SIGKILL)
        running[name].wait()
        running[name] = started(store, name, count, folder)
    for name, process in running.items():
        assert process.wait(timeout=900) == 0, (folder / f"{name}.log").read_text()[-2000:]


def check(store: ObjectStore, folder: Path, count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """What stands in the log, and what was asked of the store."""
    for name, value in store.environment.items():
        monkeypatch.setenv(name, value)
    table = DeltaTable(TABLE)
    history = [one for one in table.history() if one.get("userMetadata")]
    by_version = {one["version"]: json.loads(one["userMetadata"]) for one in history}
    found = Counter((one["name"], one["number"]) for one in by_version.values())
    assert found == Counter({(name, number): 1 for name in NAMES for number in range(count)})
    assert sorted(by_version) == [*range(1, 2 * count + 1)] and table.version() == 2 * count
    steps = [by_version[version]["step"] for version in sorted(by_version) if "step" in by_version[version]]
    assert steps == [*range(1, 2 * ((count + 1) // 2) + 1)]
    for name in NAMES:
        for number, version in acknowledged(folder, name).items():
            assert (by_version[version]["name"], by_version[version]["number"]) == (name, number)
    puts = [line for line in store.seen() if line[0] == "PUT" and line[1].endswith(".json") and "_delta_log" in line[1]]
    assert {line[2] for line in puts} == {"*"}, "every commit says that it must be the first"
    assert max(Counter(line[1] for line in puts if line[3] == "200").values()) == 1
    assert any(line[3] == "412" for line in puts), "they met"


@pytest.mark.long
@pytest.mark.parametrize("store", [0, 7], indirect=True, ids=["answers come", "every seventh answer is lost"])
def test_two_drivers(store: ObjectStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    commit(store, tmp_path, 60)
    check(store, tmp_path, 60, monkeypatch)


@pytest.mark.long
def test_two_drivers_that_are_killed(store: ObjectStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    commit(store, tmp_path, 500, kills=8)
    check(store, tmp_path, 500, monkeypatch)
