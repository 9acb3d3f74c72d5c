"""What a user's own Python modules add to the language of pipeline files: windows, triggers and aggregates by name.

    @windrow.register
    @dataclass(frozen=True)
    class Fiscal(CustomWindows):
        NAME = "fiscal"
        ...

A pipeline names the modules (`extensions: [my_package.windows]`); they are imported when it is read, from the Python
path or from the project's folder. That is running the user's code, and the only place of a file that does.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from importlib import import_module
from pathlib import Path
from typing import Any, TypeVar

from windrow.spec.aggregates import AGGREGATES, Aggregate
from windrow.spec.errors import SpecError
from windrow.spec.fields.kinds import TEXT, list_of
from windrow.spec.fields.reading import Spec
from windrow.spec.triggers.all import TRIGGERS, Trigger
from windrow.spec.windows.all import WINDOW_FUNCTIONS
from windrow.spec.windows.base import WindowFunction

C = TypeVar("C", bound=type[Spec])

_REGISTRIES: tuple[tuple[type[Spec], dict[str, Any]], ...] = (
    (WindowFunction, WINDOW_FUNCTIONS),
    (Trigger, TRIGGERS),
    (Aggregate, AGGREGATES),
)

EXTENSIONS = list_of(TEXT)


def register(cls: C) -> C:
    """Add a class to the windows, triggers or aggregates that a file may name by its `NAME`; a decorator.

    Errors: SpecError for a class of another kind, without a name, or of a name that is taken. The same class of a
    module that is imported again takes its own place.
    """
    registry = next((names for base, names in _REGISTRIES if isinstance(cls, type) and issubclass(cls, base)), None)
    if registry is None:
        raise SpecError("register", "takes window functions, triggers and aggregates", getattr(cls, "__name__", cls))
    name = getattr(cls, "NAME", None)
    if not isinstance(name, str) or not name.isidentifier():
        raise SpecError(f"{cls.__name__}.NAME", "must be the name in YAML", name, "letters, digits and underscores")
    taken = registry.get(name)
    if taken is not None and _path(taken) != _path(cls):
        raise SpecError(f"{cls.__name__}.NAME", f"is taken by {_path(taken)}", name)
    registry[name] = cls
    return cls


def load_extensions(modules: Iterable[str]) -> None:
    """Import the modules. Errors: SpecError with the module and what its import says."""
    for index, module in enumerate(modules):
        try:
            import_module(module)
        except SpecError as error:
            raise error.within(f"extensions[{index}]:") from error
        except Exception as error:
            rule = f"cannot be imported: {type(error).__name__}: {error}"
            hint = "a module on the Python path, or in the project's folder"
            raise SpecError(f"extensions[{index}]", rule, module, hint) from error


def find_extensions_in(folder: str | Path) -> None:
    """Have modules looked for in this folder too, behind all other places."""
    path = str(Path(folder).resolve())
    if path not in sys.path:
        sys.path.append(path)


def _path(cls: type[Spec]) -> str:
    return f"{cls.__module__}.{cls.__qualname__}"
