"""How the lines are laid out by which `windrow plan` says when a trigger fires."""

from __future__ import annotations

from collections.abc import Iterable

_INDENT = "  "


def headed(head: str, lines: list[str]) -> list[str]:
    """The head on the same line as a single line, else above them."""
    return [f"{head}: {lines[0]}"] if len(lines) == 1 else [f"{head}:", *indented(lines)]


def indented(lines: Iterable[str]) -> list[str]:
    """The lines of what is inside of another."""
    return [_INDENT + line for line in lines]


def joined(parts: Iterable[list[str]]) -> list[str]:
    """The lines of all parts, in order."""
    return [line for part in parts for line in part]
