"""What has been given a name, as a table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from windrow.view.text.table import table


class Named(Protocol):
    """A table or view under its name."""

    @property
    def name(self) -> str: ...
    @property
    def kind(self) -> str: ...
    @property
    def what(self) -> str: ...
    @property
    def why_not(self) -> str | None: ...


def registered_text(names: Sequence[Named], width: int) -> str:
    """A line for each name."""
    rows = [[one.name, one.kind, one.what if one.why_not is None else f"not made: {one.why_not}"] for one in names]
    return table(["name", "kind", ""], rows, width)
