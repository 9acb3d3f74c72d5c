"""YAML files as windrow reads them: strictly, and with the file in front of every error."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

import yaml

from windrow.spec.errors import SpecError

T = TypeVar("T")


def read_document(path: str | Path, read: Callable[[str], T]) -> T:
    """What `read` makes of the text of a file. Errors: SpecError, with the file in front of the place."""
    try:
        return read(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise SpecError(f"{path}:", "cannot be read", error.strerror) from error
    except UnicodeDecodeError as error:
        raise SpecError(f"{path}:", "must be a text in UTF-8") from error
    except SpecError as error:
        raise error.within(f"{path}:") from error


# Each pattern takes less than PyYAML's own, so that what PyYAML writes without quotes is read as the text it was.
_PLAIN_VALUES = {
    "bool": (r"true|false", "tf"),
    "int": (r"[-+]?(0|[1-9][0-9]*)", "-+0123456789"),
    "float": (
        r"[-+]?[0-9]+\.[0-9]*([eE][-+][0-9]+)?|\.[0-9]+([eE][-+][0-9]+)?|[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)",
        "-+.0123456789",
    ),
}
_GUESSED = {f"tag:yaml.org,2002:{name}" for name in (*_PLAIN_VALUES, "timestamp")}


def _strict(parent: type[Any]) -> type[Any]:
    """YAML without its guesses: `12:00`, `no` and `010` are texts, and a field that stands twice is an error."""
    resolvers = {
        first: [(tag, pattern) for tag, pattern in known if tag not in _GUESSED]
        for first, known in parent.yaml_implicit_resolvers.items()
    }
    loader: Any = type("StrictLoader", (parent,), {"yaml_implicit_resolvers": resolvers})
    for name, (pattern, first) in _PLAIN_VALUES.items():
        loader.add_implicit_resolver(f"tag:yaml.org,2002:{name}", re.compile(f"^({pattern})$"), list(first))
    loader.add_constructor(yaml.resolver.BaseResolver.DEFAULT_MAPPING_TAG, _strict_mapping)
    return loader  # type: ignore[no-any-return]


def _strict_mapping(loader: yaml.SafeLoader, node: yaml.MappingNode) -> dict[Any, Any]:
    seen: set[Any] = set()
    for key_node, _ in node.value:
        if key_node.tag == "tag:yaml.org,2002:merge":
            continue
        key = loader.construct_object(key_node, deep=True)
        line = key_node.start_mark.line + 1
        if not isinstance(key, str | int | float):
            raise SpecError("", f"must have a name in front of the colon (line {line})", key)
        if key in seen:
            raise SpecError("", f"stands twice (line {line})", key)
        seen.add(key)
    return loader.construct_mapping(node, deep=True)


_LOADER = _strict(yaml.SafeLoader)
_QUICK = _strict(getattr(yaml, "CSafeLoader", yaml.SafeLoader))
"""The same in a third of the time, where PyYAML was built with libyaml."""


def load_yaml(text: str) -> Any:
    """The one document of a YAML text, or SpecError with the line."""
    documents = load_yaml_documents(text)
    if len(documents) != 1:
        raise SpecError("", "must hold one document", len(documents))
    return documents[0]


def load_yaml_documents(text: str) -> list[Any]:
    """All documents of a YAML text, or SpecError with the line."""
    with suppress(yaml.YAMLError):  # what is wrong is said by the other one, in the same words wherever it runs
        return list(yaml.load_all(text, Loader=_QUICK))
    try:
        return list(yaml.load_all(text, Loader=_LOADER))
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else "?"
        raise SpecError(f"line {line}", "is not YAML", None, error.problem) from error
    except yaml.YAMLError as error:
        raise SpecError("", "is not YAML", str(error)) from error
