"""What the set-up left beside the environment for every JVM: jars, and an archive of the classes of a run."""

from __future__ import annotations

import sys
from pathlib import Path

from windrow.spec.errors import SpecError

ARCHIVE = "classes.jsa"
KAFKA = "kafka"


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


def _folder() -> Path:
    return Path(sys.prefix) / "windrow-jars"
