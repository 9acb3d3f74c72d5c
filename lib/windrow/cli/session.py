"""The Spark session of a command."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING

from windrow.cli.options import pairs_of
from windrow.spec.errors import NeedsSpark

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@contextmanager
def session(master: str | None, conf: Iterable[str] | None) -> Iterator[SparkSession]:
    """A session that ends with the command, unless there was one before. Nothing that Spark says at its start is shown.

    Errors: SpecError; NeedsSpark where it is not installed.
    """
    settings = pairs_of("--conf", conf)
    if not has_spark():
        raise NeedsSpark("the command")
    from pyspark.sql import SparkSession

    from windrow.drivers.spark.jvm import deaf_to_sigterm
    from windrow.drivers.spark.quiet import quiet_start
    from windrow.drivers.spark.session import local_session

    before = SparkSession.getActiveSession()
    if before is not None:
        yield before
        return
    with quiet_start(), deaf_to_sigterm():
        spark = local_session(master=master, conf=settings)
    try:
        yield spark
    finally:
        spark.stop()


@contextmanager
def session_if_installed(master: str | None, conf: Iterable[str] | None) -> Iterator[SparkSession | None]:
    """The same, for a command that can do without Spark; None where it is not installed and no option asks for it."""
    if master is None and not conf and not has_spark():
        yield None
        return
    with session(master, conf) as spark:
        yield spark


def has_spark() -> bool:
    """Whether the packages of the extra `spark` can be imported. A client of Spark Connect is not enough."""
    try:
        import_module("delta")  # it imports PySpark
    except ModuleNotFoundError as error:
        if NeedsSpark.is_why(error):
            return False
        raise
    return True
