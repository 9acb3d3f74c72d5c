"""What a session of Spark Connect is refused for: it has no JVM on this side.

What a stage computes is SQL text, so `windrow.panes` and `windrow.check_case` take such a session. The commands that
only look at a lake need no session at all.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from windrow.spec.errors import SpecError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_RULE = "must not be Spark Connect: tables are written, and their logs read, in a JVM of our own"
_HINT = "plan, status, show, explain, report, diff and windrow.panes need none"


def is_remote(spark: SparkSession) -> bool:
    """Whether it is a session of Spark Connect: it has no JVM, and what windrow's tables need is not there."""
    return type(spark).__module__.startswith("pyspark.sql.connect")


def check_has_jvm(spark: SparkSession) -> None:
    """Refuse a session of Spark Connect for what needs a JVM. Errors: SpecError."""
    if is_remote(spark):
        raise SpecError("spark", _RULE, "a session of Spark Connect", _HINT)


def check_is_no_server(master: str) -> None:
    """Refuse a server of Spark Connect as that which a session of our own is to be on. Errors: SpecError."""
    if master.startswith("sc://"):
        raise SpecError("--master", _RULE, _without_token(master), _HINT)
    if "SPARK_REMOTE" in os.environ:  # PySpark would take it, whatever the master is
        raise SpecError("SPARK_REMOTE", _RULE, _without_token(os.environ["SPARK_REMOTE"]), _HINT)


def _without_token(address: str) -> str:
    """The address of a server without its parameters, of which one may be a secret."""
    return address.partition("/;")[0]
