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
    """That of this thread: on which the JVM has called it, or on which it calls the JVM; None without one."""
    context = SparkContext._active_spark_context
    client: Any = None if context is None else context._gateway._gateway_client  # type: ignore[union-attr]
    return getattr(client, "get_thread_connection", lambda: None)()  # none of a gateway with PYSPARK_PIN_THREAD=false


def end(ended: Any) -> None:
    """End a connection whose thread of the JVM has ended; that of Python ends itself then."""
    if ended is None or ended.initiated_from_client:  # Python has called the JVM on it
        return
    with suppress(OSError, AttributeError):  # it is closed, or has no socket any more
        ended.socket.shutdown(socket.SHUT_RDWR)
