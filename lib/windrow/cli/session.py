"""The Spark session of a command."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from windrow.cli.options import pairs_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@contextmanager
def session(master: str | None, conf: Iterable[str] | None) -> Iterator[SparkSession]:
    """A session that ends with the command, unless there was one before. Nothing that Spark says at its start is shown.

    Errors: SpecError.
    """
    settings = pairs_of("--conf", conf)
    from pyspark.sql import SparkSession

    from windrow.drivers.spark.quiet import quiet_start
    from windrow.drivers.spark.session import local_session

    before = SparkSession.getActiveSession()
    if before is not None:
        yield before
        return
    with quiet_start():
        spark = local_session(master=master, conf=settings)
    try:
        yield spark
    finally:
        spark.stop()
