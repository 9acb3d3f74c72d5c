"""What Java says of a failure: the error and its causes, each in its own words, and the same in one line."""

from __future__ import annotations

import re
from typing import Any

_MOST = 20
"""A chain of causes may be a ring."""
_LONGEST = 300
"""Characters of an error in one line."""

_PATHS = (
    r"(?:reading|read) file:? (\S+?)\.?(?:\s|$)",
    r"((?:\w+:)?/\S*?/_delta_log(?:/[\w.-]+\w)?)",
    r"path \[?((?:\w+:)?/[^\s\]]+)",
)
"""How an error names the file or table that it is about, the most telling first."""


def causes_of(failure: BaseException) -> list[str]:
    """The error and its causes as `class: message`, the outermost first; none where it is none of Java's."""
    error: Any = None
    inner: BaseException | None = failure
    while error is None and inner is not None:
        error = getattr(inner, "java_exception", None)
        error = getattr(inner, "_origin", None) if error is None else error
        inner = getattr(inner, "_cause", None)
    said: list[str] = []
    while error is not None and len(said) < _MOST:
        said.append(str(error.toString()))
        error = error.getCause()
    return said


def in_one_line(failure: BaseException) -> str:
    """The error without its trace: the file or table that it is about, where it names one, and the innermost cause."""
    causes = causes_of(failure)
    if not causes:
        return f"{type(failure).__name__}: {_first_line(str(failure))}".removesuffix(": ")
    innermost = re.sub(r"^(?:[\w$]+\.)+", "", _first_line(causes[-1]))
    found = (re.search(pattern, "\n".join(causes)) for pattern in _PATHS)
    path = next((match[1] for match in found if match is not None), None)
    return innermost if path is None or path in innermost else f"{path}: {innermost}"


def _first_line(words: str) -> str:
    line = next((line.strip() for line in words.splitlines() if line.strip()), "")
    return line if len(line) <= _LONGEST else f"{line[:_LONGEST]} ..."
