"""What the JVM and Spark's launcher say when they start, kept off the terminal; what they say of a failure is not."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_NOISE = (
    "WARNING: Using incubator modules",
    "WARNING: A restricted method",
    "WARNING: Use --enable-native-access",
    "WARNING: Restricted methods",
    "Picked up JAVA_TOOL_OPTIONS",
    "Using Spark's default log4j profile",
    "Setting default log level",
    "To adjust logging level",
    "NativeCodeLoader",
    "WARN Utils:",
    "files and directories in a total of",  # of a VACUUM
)


@contextmanager
def quiet_start() -> Iterator[None]:
    """Give the processes that are started within an output of their own, which comes to stderr, less the noise.

    A JVM keeps it for good, so the lines are passed on until it ends. What it writes to its stdout comes there too:
    stdout is for the results of a command.
    """
    sys.stdout.flush()
    sys.stderr.flush()
    results, terminal = os.dup(1), os.dup(2)
    reading, writing = os.pipe()
    threading.Thread(target=_pass_on, args=(reading, terminal), daemon=True).start()
    os.dup2(writing, 1)
    os.dup2(writing, 2)
    os.close(writing)
    try:
        yield
    finally:
        sys.stdout.flush()
        os.dup2(results, 1)
        os.dup2(terminal, 2)
        os.close(results)


def _pass_on(reading: int, terminal: int) -> None:
    with os.fdopen(reading, "rb") as lines, os.fdopen(terminal, "wb", buffering=0) as out:
        for line in lines:
            if not any(noise in line.decode(errors="replace") for noise in _NOISE):
                out.write(line)
