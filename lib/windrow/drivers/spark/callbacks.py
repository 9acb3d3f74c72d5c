"""Connections on which threads of the JVM call Python, ended when the thread is.

A query of Structured Streaming is a thread of its own, which calls Python over a connection of its own, and a thread of
Python waits at its other end. Py4j closes it when the JVM collects its garbage, and an old generation is collected
seldom: a stream, whose landings are a query each, had thousands of threads and open sockets in the end.
"""

from __future__ import annotations

import socket
from contextlib import suppress
from typing import Any

from pyspark import SparkContext


def connection() -> Any:
    """That on which this very thread was called by the JVM; None where it was not."""
    context = SparkContext._active_spark_context
    return None if context is None else context._gateway._gateway_client.get_thread_connection()  # type: ignore[union-attr]


def end(ended: Any) -> None:
    """End a connection whose thread of the JVM has ended; that of Python ends itself then."""
    with suppress(OSError, AttributeError):  # it is closed, or has no socket any more
        ended.socket.shutdown(socket.SHUT_RDWR)
