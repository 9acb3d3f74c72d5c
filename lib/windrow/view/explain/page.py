"""The life of a window in a notebook: HTML that needs nothing else, no network and no script."""

from __future__ import annotations

from windrow.view.explain.life import Life
from windrow.view.explain.parts import headline, parts
from windrow.view.pictures.drawing import svg
from windrow.view.pictures.lives import picture_of
from windrow.view.templates import template
from windrow.view.text.table import cell, has_numbers


def life_html(life: Life) -> str:
    """All parts, one below the other."""
    shown = []
    for part in parts(life):
        table = part.table
        head = [] if table is None else [(name, has_numbers(table.rows, n)) for n, name in enumerate(table.head)]
        rows = [] if table is None else [[cell(value) for value in row] for row in table.rows]
        shown.append({"title": part.title, "lines": part.lines, "head": head, "rows": rows})
    picture = svg(picture_of(life), heading=False, is_inline=True)
    return template("explain.html").render(title=headline(life), parts=shown, picture=picture)
