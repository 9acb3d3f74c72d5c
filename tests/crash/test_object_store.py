"""Two drivers commit to one table on S3, are killed and go on: no commit is lost, and none is there twice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.crash.two_drivers import Drivers
from tests.object_store import BUCKET, NoObjectStore, ObjectStore, object_store
from tests.servers import free_port
from windrow.drivers.spark.jvm import has_s3

pytestmark = [
    pytest.mark.crash,
    pytest.mark.skipif(not has_s3(), reason="the jars of S3 are not set up: make setup EXTRA=s3"),
]
TABLE = f"s3a://{BUCKET}/lake/table"


@pytest.fixture
def store(request: pytest.FixtureRequest) -> Iterator[ObjectStore]:
    """A server that loses every so many-th answer, if the test says so."""
    try:
        with object_store(free_port(), getattr(request, "param", 0)) as made:
            yield made
    except NoObjectStore as missing:
        pytest.skip(str(missing))


def check(store: ObjectStore, drivers: Drivers, count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """What stands in the log, and what was asked of the store."""
    for name, value in store.environment.items():
        monkeypatch.setenv(name, value)
    drivers.check(count)
    puts = [line for line in store.seen() if line[0] == "PUT" and line[1].endswith(".json") and "_delta_log" in line[1]]
    assert {line[2] for line in puts} == {"*"}, "every commit says that it must be the first"
    assert max(Counter(line[1] for line in puts if line[3] == "200").values()) == 1
    assert any(line[3] == "412" for line in puts), "they met"


@pytest.mark.long
@pytest.mark.parametrize("store", [0, 7], indirect=True, ids=["answers come", "every seventh answer is lost"])
def test_two_drivers(store: ObjectStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    drivers = Drivers(TABLE, tmp_path, store.environment)
    drivers.commit(60)
    check(store, drivers, 60, monkeypatch)


@pytest.mark.long
def test_two_drivers_that_are_killed(store: ObjectStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    drivers = Drivers(TABLE, tmp_path, store.environment)
    drivers.commit(500, kills=8)
    check(store, drivers, 500, monkeypatch)
