"""Pages with what commands print: `WRITE=1 python -m pytest tests/cookbook` writes anew what the model knows."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from demo.recipes import Command
from tests.cookbook.shell import LEFT_OUT

_CONSOLE = re.compile(r"(?<=^```console\n)(.*?)(?=^```$)", re.MULTILINE | re.DOTALL)
_RESULTS = ("windrow show", "windrow explain")


def with_outputs(section: str, printed: Callable[[Command], str | None]) -> str:
    """The section of a recipe with what its commands print, where that is known and shown as a whole."""
    return _CONSOLE.sub(lambda block: "\n".join(_lines(block[1], printed)).rstrip() + "\n", section)


def _lines(block: str, printed: Callable[[Command], str | None]) -> Iterator[str]:
    for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        typed, shown = _parts(part)
        yield f"$ {typed}"
        words = typed.replace("\\\n", " ")
        out = printed(Command(words, tuple(shown)))
        is_whole = LEFT_OUT not in shown and (shown or words.startswith(_RESULTS))
        lines = out.rstrip("\n").split("\n") if out and is_whole else shown
        yield from lines
        if lines:
            yield ""


def _parts(part: str) -> tuple[str, list[str]]:
    """What is typed, which may go on behind a backslash, and the lines that are shown."""
    lines = part.rstrip("\n").split("\n")
    number = next(index for index, line in enumerate(lines) if not line.endswith("\\")) + 1
    return "\n".join(lines[:number]), lines[number:]
