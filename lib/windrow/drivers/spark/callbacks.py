"""Connections on which threads of the JVM call Python, ended when the thread is.

A query of Structured Streaming is a thread of its own, which calls Python over a connection of its own, and a thread of
Python waits at its other end. Py4j keeps both for as long as the JVM lives: a stream, whose landings are a query each,
had thousands of threads and open sockets in the end.
"""

from __future__ import annotations

import socket
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from py4j.java_gateway import JavaObject
from py4j.protocol import Py4JError
from pyspark import SparkContext


@dataclass(frozen=True)
class Call:
    """A connection at both of its ends: Python's, and the JVM's with the list that keeps it."""

    python: Any
    java: Any
    kept_by: Any


def current() -> Call | None:
    """That of this thread, on which the JVM has called it; None where it has not."""
    context = SparkContext._active_spark_context
    client: Any = None if context is None else context._gateway._gateway_client  # type: ignore[union-attr]
    python = getattr(client, "get_thread_connection", lambda: None)()  # none of a gateway with PYSPARK_PIN_THREAD=false
    if python is None or python.initiated_from_client:  # Python has called the JVM on it
        return None
    kept_by: Any = JavaObject("GATEWAY_SERVER", client).getCallbackClient()
    return Call(python, kept_by.getPerThreadConnection(), kept_by)


def end(ended: Call | None) -> None:
    """End that of a thread of the JVM that has ended; the one of Python ends itself then."""
    if ended is None:
        return
    with suppress(OSError, AttributeError):  # it is closed, or has no socket any more
        ended.python.socket.shutdown(socket.SHUT_RDWR)
    with suppress(Py4JError):  # the JVM has gone meanwhile
        ended.kept_by.connectionStopped(ended.java)
        ended.java.shutdown()
