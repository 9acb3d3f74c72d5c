"""One Spark session for the whole run, and the marks that follow from what a test uses."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


os.environ.setdefault("SPARK_SUBMIT_OPTS", "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=240m")
"""For every JVM of the tests, those in processes of their own too: none lives long enough to pay for the second
compiler, which takes half of its time."""


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """The session of this run; tests leave its settings as they found them."""
    from windrow.run.session import local_session

    session = local_session(app="windrow tests")
    yield session
    session.stop()


LONGEST = ("tests/crash/", "tests/run/test_stream.py", "tests/airflow/test_backfill.py")
"""Files that take minutes: first, so that the processes of a run end together."""


@pytest.hookimpl(tryfirst=True)  # before `-m` chooses by marks
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: not item.nodeid.startswith(LONGEST))
    for item in items:
        if "spark" in getattr(item, "fixturenames", ()) or item.get_closest_marker("crash"):
            item.add_marker(pytest.mark.spark)
