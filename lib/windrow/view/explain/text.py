"""The life of a window in a terminal."""

from __future__ import annotations

from windrow.view.explain.life import Life
from windrow.view.explain.parts import Part, headline, parts
from windrow.view.text.sections import Section, laid_out
from windrow.view.text.table import table


def life_text(life: Life, width: int) -> str:
    """All parts, one below the other; a table is as wide as the terminal."""
    return "\n\n".join([headline(life), *(_part(part, width) for part in parts(life))])


def _part(part: Part, width: int) -> str:
    if part.table is None:
        return laid_out([Section(part.title, [("", part.lines)])], width)
    return f"{part.title}\n{table(part.table.head, part.table.rows, width)}"
