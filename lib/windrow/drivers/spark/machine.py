"""What whoever set up Spark on this machine has chosen for all of its jobs: their defaults, and what they log.

Spark looks in `SPARK_CONF_DIR`, or in `conf` of its home: for a job that of the `spark-submit` that starts it, for a
session of our own that of PySpark.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from shutil import which

_LINE = re.compile(r"(spark\.[^\s=:]+)\s*[=:\s]\s*(.*)")


def defaults(home: str | None = None) -> dict[str, str]:
    """The settings of `spark-defaults.conf`; none where there is no such file. `home` is Spark's, if that is known."""
    folder = _folder() if home is None or os.environ.get("SPARK_CONF_DIR") else Path(home) / "conf"
    path = None if folder is None else folder / "spark-defaults.conf"
    if path is None or not path.is_file():
        return {}
    found = map(_LINE.fullmatch, (line.strip() for line in path.read_text(encoding="utf-8").splitlines()))
    return {line[1]: line[2] for line in found if line}


def has_logging() -> bool:
    """Whether there is a configuration of log4j."""
    folder = _folder()
    return folder is not None and (folder / "log4j2.properties").exists()


def _folder() -> Path | None:
    if os.environ.get("SPARK_CONF_DIR"):
        return Path(os.environ["SPARK_CONF_DIR"])
    if os.environ.get("SPARK_HOME"):
        return Path(os.environ["SPARK_HOME"]) / "conf"
    program = which("spark-submit")
    return None if program is None else Path(program).resolve().parents[1] / "conf"
