"""What a run was at when it failed: a note with the error, which the last line of a command then names."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def during(what: str) -> Iterator[None]:
    """Note it with an error that comes from within, unless somebody further inside has noted what it was."""
    try:
        yield
    except Exception as error:
        if not getattr(error, "__notes__", ()):
            error.add_note(what)
        raise
