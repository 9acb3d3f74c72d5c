"""Sections of labelled text, laid out for a terminal."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

_WIDEST = 110
_NARROWEST = 60


@dataclass(frozen=True)
class Section:
    """A title with rows under it: each a label and its lines. A row without lines is left out."""

    title: str
    rows: Sequence[tuple[str, Sequence[str]]]

    def to_mapping(self) -> Mapping[str, list[str]]:
        """The rows by their labels, for machines."""
        return {label: list(lines) for label, lines in self.rows if lines}


def laid_out(sections: Iterable[Section], width: int) -> str:
    """The sections as one text: labels in a column, lines wrapped at the width, kept between 60 and 110."""
    width = max(_NARROWEST, min(width, _WIDEST))
    return "\n\n".join("\n".join(_section(section, width)) for section in sections)


def _section(section: Section, width: int) -> list[str]:
    rows = [(label, lines) for label, lines in section.rows if lines]
    column = max((len(label) for label, _ in rows), default=0) + 4
    laid = [section.title]
    for label, lines in rows:
        indents = [f"  {label}".ljust(column), *[" " * column] * (len(lines) - 1)]
        for indent, line in zip(indents, lines, strict=True):
            laid += _wrapped(line, indent, " " * column, width)
    return laid


def _wrapped(line: str, first: str, later: str, width: int) -> list[str]:
    """A line that goes on is indented a little more, so that it is not taken for a new one."""
    text = line.lstrip(" ")
    nested = " " * (len(line) - len(text))
    whole = f"{first}{nested}{text}"
    if text and len(whole) <= width and text.isprintable() and not text.endswith(" "):
        return [whole]
    return textwrap.wrap(
        text,
        width,
        initial_indent=first + nested,
        subsequent_indent=later + nested + "  ",
        break_long_words=False,
        break_on_hyphens=False,
    )
