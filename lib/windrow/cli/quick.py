"""A quick start for the commands that only look at a lake."""

from __future__ import annotations

import sys
from collections.abc import Sequence

LOOKING = frozenset({"plan", "status", "watch", "show", "explain", "report", "diff", "metrics", "lineage"})
"""The commands that read tables and need nothing but Arrow."""


def quick_start(command: Sequence[str]) -> None:
    """Import Arrow's datasets so that they do not import pandas, where it is installed: that takes as long as the rest.

    From then on Arrow takes no value for one of pandas, so this is for a process that ends with such a command.
    """
    if not LOOKING.intersection(command[:1]) or "pandas" in sys.modules:
        return
    sys.meta_path.insert(0, _NoPandas)
    try:
        import pyarrow.dataset  # type: ignore[import-untyped]  # noqa: F401
    finally:
        sys.meta_path.remove(_NoPandas)


class _NoPandas:
    """A finder of modules to which pandas is not installed."""

    @staticmethod
    def find_spec(name: str, path: object = None, target: object = None) -> None:
        if name == "pandas":
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
