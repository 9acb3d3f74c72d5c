"""One Spark session for the whole run, the profile of Hypothesis, and the marks that follow from what a test uses."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


pytest_plugins = ["pytester", "tests.turns"]

CODE_CACHE = "-XX:ReservedCodeCacheSize=240m -XX:+UseParallelGC"
os.environ.setdefault("SPARK_SUBMIT_OPTS", f"-XX:TieredStopAtLevel=1 {CODE_CACHE}")
"""For the JVMs of processes that tests start: none lives long enough to pay for the second compiler, which takes half
of its time. That of the tests themselves does: after some minutes it makes a tick in two thirds of the time."""

settings.register_profile("windrow", deadline=None, derandomize="SEED" not in os.environ)
settings.load_profile("windrow")
"""The same examples in every run, so that a change is judged by what it changes: `SEED=1` takes others. Without
deadlines: how long an example takes says nothing on a busy machine."""


INTERPRETED = {"spark.sql.codegen.factoryMode": "NO_CODEGEN"}
"""Plans that run once for a few rows are interpreted: to make code for them took a fifth of the time. Commands
that tests start compile as a user's do, and so do the tests that ask for `compiled`."""


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """The session of this run; tests leave its settings as they found them."""
    from windrow.drivers.spark.session import local_session

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SPARK_SUBMIT_OPTS", CODE_CACHE)
        session = local_session(app="windrow tests", conf=INTERPRETED)
    yield session
    session.stop()


@contextmanager
def compiling() -> Iterator[None]:
    """Spark compiles the plans of pipelines that are opened meanwhile, as it does for users."""
    from windrow.drivers.spark import session

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(session, "REQUIRED", {**session.REQUIRED, "spark.sql.codegen.factoryMode": "FALLBACK"})
        yield


@pytest.fixture(scope="module")
def compiled() -> Iterator[None]:
    """Spark compiles the plans of a module's tests."""
    with compiling():
        yield


LONGEST = (
    "tests/crash/", "tests/engine/test_transcripts.py", "tests/airflow/", "tests/drivers/test_stream.py",
    "tests/drivers/test_maintain.py", "tests/drivers/test_contract.py",
)  # fmt: skip
"""Files that take minutes: first, so that the processes of a run end together."""


@pytest.hookimpl(tryfirst=True)  # before `-m` chooses by marks
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: not item.nodeid.startswith(LONGEST))
    for item in items:
        if "spark" in getattr(item, "fixturenames", ()) or item.get_closest_marker("crash"):
            item.add_marker(pytest.mark.spark)
