"""The Spark session of a command."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from importlib import import_module
from typing import TYPE_CHECKING, TypeVar

from windrow.cli.options import pairs_of
from windrow.spec.errors import NeedsSpark, NotReadable, SpecError
from windrow.spec.fields.reading import located
from windrow.spec.pipelines.loading import suites_of
from windrow.spec.pipelines.pipeline import Pipeline
from windrow.spec.pipelines.spark_settings import check_settings
from windrow.spec.sources.source import resolve_environment
from windrow.store.delta.location import is_on_s3

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Seen = TypeVar("Seen")
_JOB: ContextVar[str | None] = ContextVar("job", default=None)
"""The name of the job that this process is; None where `spark-submit` has not started it."""


@contextmanager
def session(
    master: str | None, conf: Iterable[str] | None, pipeline: Pipeline | None = None, judges: bool = False
) -> Iterator[SparkSession]:
    """A session that ends with the command, unless there was one before. Nothing that Spark says at its start is shown.

    It reaches S3 where something of the pipeline, or a setting, names a place there; `judges`: the suites of the
    pipeline will be asked. Errors: SpecError, also for settings of a session that was there before; NeedsSpark where
    it is not installed.
    """
    settings = pairs_of("--conf", conf)
    located("--conf:", check_settings, settings)
    if not has_spark():
        from windrow.drivers.spark.connect import check_is_no_server

        check_is_no_server(master or "")
        raise NeedsSpark("the command")
    from pyspark.sql import SparkSession

    from windrow.drivers.spark.jvm import deaf_to_sigterm
    from windrow.drivers.spark.quiet import quiet_start
    from windrow.drivers.spark.session import local_session

    if judges and pipeline is not None:
        from windrow.quality.early import import_early

        import_early(suites_of(pipeline).values())
    before = SparkSession.getActiveSession() if (job := _JOB.get()) is None else _submitted(job)
    if before is not None:
        if settings:
            raise SpecError(
                "--conf", "comes too late: a session is there", next(iter(settings)), "give it to spark-submit"
            )
        yield before
        return
    with quiet_start(), deaf_to_sigterm():
        spark = local_session(master=master, conf=settings, s3=_is_on_s3(pipeline, settings))
    try:
        yield spark
    finally:
        spark.stop()


@contextmanager
def in_job(name: str) -> Iterator[None]:
    """Commands within take the session of the job that this process is, with that name, when they first need one."""
    token = _JOB.set(name)
    try:
        yield
    finally:
        _JOB.reset(token)


def _submitted(job: str) -> SparkSession:
    """The session of the job. Errors: SpecError for a setting with which it was submitted."""
    from windrow.drivers.spark.session import submitted_session

    try:
        return submitted_session(job)
    except SpecError as error:
        raise error.within("spark-submit --conf:") from None


def looked(
    look: Callable[[SparkSession | None], Seen], master: str | None, conf: Iterable[str] | None, pipeline: Pipeline
) -> Seen:
    """What a look at a lake finds that needs a session only where `deltalake` cannot read the lake.

    Errors: those of `look`; NotReadable where Spark would have to read and is not installed.
    """
    if "spark.hadoop.fs.defaultFS" not in pairs_of("--conf", conf):
        try:
            return look(None)
        except NotReadable:
            if not has_spark():
                raise
    with session(master, conf, pipeline) as spark:
        return look(spark)


def _is_on_s3(pipeline: Pipeline | None, settings: Mapping[str, str]) -> bool:
    """Whether a lake, a source or a setting names a place on S3."""
    sources = () if pipeline is None else pipeline.sources
    paths = [source.connector.location or "" for source in sources] + ([] if pipeline is None else [pipeline.lake])
    return any(map(is_on_s3, (*map(resolve_environment, paths), *settings.values())))


def has_spark() -> bool:
    """Whether the packages of the extra `spark` can be imported. A client of Spark Connect is not enough."""
    try:
        import_module("delta")  # it imports PySpark
    except ModuleNotFoundError as error:
        if NeedsSpark.is_why(error):
            return False
        raise
    return True
