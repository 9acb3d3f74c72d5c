"""Great Expectations takes seconds to import: they pass while the JVM starts, and not when the first gate judges."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from threading import Thread

from windrow.quality.own import is_own
from windrow.spec.quality.suites import Suite


def import_early(suites: Iterable[Suite]) -> None:
    """Begin to import it in a thread, where one of these suites needs it.

    A gate that comes sooner waits for that, and so does the end of the process. To be called once PySpark is imported,
    which would otherwise be imported by two threads.
    """
    if not all(is_own(one) for suite in suites for one in suite.expectations):
        Thread(target=_import, name="import great_expectations").start()


def _import() -> None:
    with suppress(Exception):  # the gate imports it again, and says what is wrong
        import great_expectations  # noqa: F401
