"""Single fields of a pipeline file that are set from outside: `lake=/data/lake`, `stages.hourly.allowed_lateness=2h`.

A setting is a path of field names, and a value as it would stand in the file. Sources and stages are found by their
names, items of other lists by their numbers.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from typing import Any

from windrow.spec.errors import SpecError


def with_settings(mapping: Any, settings: Mapping[str, str], read: Callable[[str], Any]) -> Any:
    """A copy of the mapping of a file with those fields replaced; `read` gives the value of a text.

    What the fields mean is checked by whoever reads the mapping. Errors: SpecError for a path that leads to nothing.
    """
    if not settings or not isinstance(mapping, dict):
        return mapping
    changed = copy.deepcopy(mapping)
    for path, text in settings.items():
        *parents, last = path.split(".")
        inner: Any = changed
        for name in parents:
            inner = inner[_step(inner, name, path)]
        inner[last if isinstance(inner, dict) else _step(inner, last, path)] = read(text)
    return changed


def _step(container: Any, name: str, path: str) -> Any:
    """The key or number under which a container has what a name of the path stands for."""
    known: list[str] = []
    if isinstance(container, dict):
        known = [str(key) for key in container]
        if name in container:
            return name
    elif isinstance(container, list):
        known = [str(_name_of(item, number)) for number, item in enumerate(container)]
        if name in known:
            return known.index(name)
        if name.isdigit() and int(name) < len(container):
            return int(name)
    raise SpecError(f"--set {path}", "leads to nothing", name, f"one of {', '.join(known)}" if known else None)


def _name_of(item: Any, number: int) -> Any:
    return item.get("name", number) if isinstance(item, dict) else number
