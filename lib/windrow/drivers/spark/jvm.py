"""What every JVM of windrow is started with: jars, an archive of classes, and no ear for the signal that ends a run."""

from __future__ import annotations

import os
import re
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from windrow.drivers.spark.machine import has_logging
from windrow.spec.errors import SpecError

ARCHIVE = "classes.jsa"
KAFKA = "kafka"
S3, LOG_STORE = "s3", "log-store"
_OPTIONS = ("SPARK_SUBMIT_OPTS", "JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS")
"""The environment variables from which a JVM takes options."""


def session_jars(s3: bool = True) -> list[str]:
    """Delta's jars, and those of Kafka where they are set up; with `s3` those of S3 likewise.

    A JVM looks through all of its jars for what is in none, so those of S3 are for who needs them. Errors: SpecError
    where Delta's are not set up.
    """
    jars = sorted(str(jar) for jar in _folder().glob("*.jar"))
    if not jars:
        raise SpecError("", "Delta's jars are not set up", None, "run make setup")
    return [*jars, *_more(KAFKA), *(_more(S3) + _more(LOG_STORE) if s3 else [])]


def has_s3() -> bool:
    """Whether the jars of S3 are set up."""
    return bool(_more(S3) and _more(LOG_STORE))


def _more(name: str) -> list[str]:
    return sorted(str(jar) for jar in (_folder() / name).glob("*.jar"))


def class_archive() -> str:
    """The options by which a JVM maps Spark's classes, read and checked once at set-up, and starts 5 s sooner.

    Empty without an archive. One of another Java is passed over without a word, as it makes no difference but time.
    """
    archive = _folder() / ARCHIVE
    return f"-XX:SharedArchiveFile={archive} -Xlog:cds=off -Xlog:cds+dynamic=off" if archive.exists() else ""


def collector(others: str = "") -> str:
    """The option for the garbage collector that stops all threads: on few cores the work of a tick ends sooner with it.

    Empty where the environment, or those other options, choose one: a JVM refuses two.
    """
    return "" if re.search(r"-XX:\+Use\w+GC\b", _given(others)) else "-XX:+UseParallelGC"


def code_cache(others: str = "") -> str:
    """The option for the room that compiled code has, where neither the environment nor those other options choose it.

    It is what a JVM takes by itself, but not with the first compiler only (`-XX:TieredStopAtLevel=1`): then it takes a
    fifth of that, which a run of all steps fills. A JVM without room compiles nothing more, and ends Spark's threads.
    """
    return "" if "ReservedCodeCacheSize" in _given(others) else "-XX:ReservedCodeCacheSize=240m"


def _given(others: str) -> str:
    """The options that a JVM has in any case."""
    return " ".join([others, *(os.environ.get(name, "") for name in _OPTIONS)])


def logging_of(level: str) -> str:
    """The options by which a JVM logs on stderr what is of that level, without what windrow expects and handles."""
    return f"-Dlog4j2.configurationFile=file:{Path(__file__).with_name('log4j2.properties')} -Dwindrow.log={level}"


def driver_memory() -> str:
    """The memory of a driver of which nobody says how much it has."""
    return os.environ.get("WINDROW_DRIVER_MEMORY", "4g")


def launch_environment(is_quiet: bool) -> dict[str, str]:
    """The variables of the environment with which `spark-submit` is started, over those of this process.

    What they say gives way to settings of the job and of the cluster: Spark reads its own variables last. `is_quiet`
    has it log errors only, unless whoever set it up has chosen what it logs.
    """
    given = os.environ.get(_OPTIONS[0], "")
    options = [given, class_archive() if "SharedArchiveFile" not in given else "", code_cache()]
    if is_quiet and "log4j" not in given and not has_logging():
        options.append(logging_of("error"))
    memory = os.environ.get("SPARK_DRIVER_MEMORY") or driver_memory()
    return {"SPARK_DRIVER_MEMORY": memory, _OPTIONS[0]: " ".join(option for option in options if option)}


@contextmanager
def deaf_to_sigterm() -> Iterator[None]:
    """A JVM that is started within ignores SIGTERM, as this process does meanwhile.

    A supervisor sends the signal to all processes of a group, and a stream ends after its tick, for which it needs the
    JVM. The JVM ends with this process in any case: it reads from a pipe that then closes.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL if before is None else before)


def _folder() -> Path:
    return Path(sys.prefix) / "windrow-jars"
