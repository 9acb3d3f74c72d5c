"""SQL text over several lines. Only white space is added: without it, it is the text that it was.

A text that fits a line stays on it. Else each operand, branch or argument gets lines of its own, and what still does
not fit is opened at its longest bracket, which `CASE .. END` and `struct<..>` are too. A field of a struct stays beside
its name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

WIDTH = 120
STEP = 2

_TEXT = r"'(?:\\.|[^'\\])*'"
_NAME = r"`(?:``|[^`])*`"
_COMPARISON = r" (?:<=>|<>|<=|>=|->|<|>) "
_TYPE = r"(?:array|map|struct)<"
_TOKEN = re.compile(rf"{_TEXT}|{_NAME}|{_COMPARISON}|{_TYPE}|\w+|\s+|.", re.S)
_OPENS, _CLOSES = ("(", "[", "CASE", "array<", "map<", "struct<"), (")", "]", "END", ">")
_BREAKS_BEFORE = ("AND", "OR", "WHEN", "THEN", "ELSE")


def laid_out(text: str, indent: int = 0, names_fields: bool = False) -> list[str]:
    """The lines of an expression, each behind so many spaces at least; it may be the fields of a struct."""
    text, pad = text.strip(), " " * indent
    if indent + len(text) <= WIDTH:
        return [pad + text]
    parts = [part for part in _parts(text) if part.strip()]
    if names_fields:
        parts = [name + value for name, value in zip(parts[::2], parts[1::2], strict=True)]
    if len(parts) > 1:
        return [line for part in parts for line in laid_out(part, indent)]
    bracket = _longest_bracket(text)
    if bracket is None:
        return [pad + text]
    first, last = bracket
    head, inside, rest = text[:first], text[first:last], text[last:]
    opened = laid_out(inside, indent + STEP, names_fields=head.endswith("named_struct("))
    return [*laid_out(head, indent), *opened, *laid_out(rest, indent)]


def _depths(text: str) -> Iterator[tuple[int, str, int]]:
    """The tokens with their places, and how many brackets each is in: of those that the text opens itself."""
    depth = 0
    for found in _TOKEN.finditer(text):
        depth = max(depth - (found[0] in _CLOSES), 0)
        yield found.start(), found[0], depth
        depth += found[0] in _OPENS


def _parts(text: str) -> Iterator[str]:
    """The text cut behind each comma and before each operator and branch that is in no bracket."""
    begin = 0
    for place, token, depth in _depths(text):
        if depth == 0 and token == ",":
            yield text[begin : place + 1]
            begin = place + 1
        elif depth == 0 and token in _BREAKS_BEFORE and text[begin:place].strip():
            yield text[begin:place]
            begin = place
    yield text[begin:]


def _longest_bracket(text: str) -> tuple[int, int] | None:
    """From where to where the inside of the longest bracket goes that is in no other one."""
    begin, found = 0, [(0, 0)]
    for place, token, depth in _depths(text):
        if depth == 0 and token in _OPENS:
            begin = place + len(token)
        elif depth == 0 and token in _CLOSES:
            found.append((begin, place))
    first, last = max(found, key=lambda one: one[1] - one[0])
    return (first, last) if last > first else None
