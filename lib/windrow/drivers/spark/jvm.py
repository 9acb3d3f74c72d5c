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

from windrow.spec.errors import SpecError

ARCHIVE = "classes.jsa"
KAFKA = "kafka"
_OPTIONS = ("SPARK_SUBMIT_OPTS", "JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS")
"""The environment variables from which a JVM takes options."""


def session_jars() -> list[str]:
    """Delta's jars, and Kafka's where they are set up. Errors: SpecError where Delta's are not."""
    jars = sorted(str(jar) for jar in _folder().glob("*.jar"))
    if not jars:
        raise SpecError("", "Delta's jars are not set up", None, "run make setup")
    return [*jars, *sorted(str(jar) for jar in (_folder() / KAFKA).glob("*.jar"))]


def class_archive() -> str:
    """The options by which a JVM maps Spark's classes, read and checked once at set-up, and starts 5 s sooner.

    Empty without an archive. One of another Java is passed over without a word, as it makes no difference but time.
    """
    archive = _folder() / ARCHIVE
    return f"-XX:SharedArchiveFile={archive} -Xlog:cds=off -Xlog:cds+dynamic=off" if archive.exists() else ""


def collector() -> str:
    """The option for the garbage collector that stops all threads: on few cores the work of a tick ends sooner with it.

    Empty where the environment chooses one: a JVM refuses two.
    """
    given = " ".join(os.environ.get(name, "") for name in _OPTIONS)
    return "" if re.search(r"-XX:\+Use\w+GC\b", given) else "-XX:+UseParallelGC"


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
