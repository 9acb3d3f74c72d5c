"""Values that a notebook shows as HTML.

Their pages are drawn above this layer. Whoever draws them says so here, and nothing of that is imported before the
first value is shown.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

_pages: list[Callable[[Any], str]] = []


def draw_with(page: Callable[[Any], str]) -> None:
    """Let this function give the HTML of every value from now on."""
    _pages[:] = [page]


class InNotebooks:
    """The base of values that Jupyter shows as HTML."""

    def _repr_html_(self) -> str | None:
        return _pages[0](self) if _pages else None
