"""Python's garbage, cleared whenever the stream has looked for rows.

What Python refers to in the JVM stays there. Each landing is a query with a session of its own, which Python has in a
cycle of references, and Python by itself looks for cycles among its old objects seldom: dozens of sessions waited.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from gc import collect, freeze, unfreeze


@contextmanager
def of_a_stream() -> Iterator[None]:
    """For as long as this lasts, `clear` looks at what was made since it began, and not at all that was there."""
    collect()
    freeze()
    try:
        yield
    finally:
        unfreeze()


def clear() -> None:
    """Let go of what nobody uses any more, and so of what it has in the JVM."""
    collect()
