"""Markdown pages as values: sections, tables, code, and the anchors of headings."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = {path.stem: path.read_text() for path in DOCS.glob("*.md")}
TEXTS = {path: path.read_text() for path in [*DOCS.rglob("*.md"), *ROOT.glob("*.md")]}

Row = dict[str, str]


def section(page: str, heading: str) -> str:
    """The text under a heading, up to the next one of any level."""
    found = re.search(rf"^#+ {re.escape(heading)}$\n(.*?)(?=^#+ |\Z)", without_blocks(PAGES[page]), re.M | re.S)
    assert found is not None, f"docs/{page}.md has no section {heading!r}"
    return found[1]


def without_blocks(text: str) -> str:
    return re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S)


def blocks(text: str, language: str) -> list[str]:
    """The fenced blocks of a language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.M | re.S)


def tables(text: str) -> list[list[Row]]:
    """The tables of a text: rows by the names of their columns, `\\|` as a bar, and code without its quotes."""
    found: list[list[Row]] = []
    names: list[str] = []
    for line in text.splitlines():
        cells = [cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        if not cells:
            names = []
        elif not names:
            names, table = cells, []
            found.append(table)
        elif set("".join(cells)) != {"-"}:
            table.append(dict(zip(names, cells, strict=True)))
    return found


def coded(text: str) -> list[str]:
    """What stands between single quotes of code."""
    return re.findall(r"`([^`]+)`", text)


def column(table: list[Row], name: str) -> list[str]:
    """The names in code in a column, in order."""
    return [code for row in table for code in coded(row[name])]


def table_of(page: str, heading: str, first: str) -> list[Row]:
    """The table of a section whose first column has that name."""
    (table,) = [table for table in tables(section(page, heading)) if next(iter(table[0])) == first]
    return table


def anchors(text: str) -> set[str]:
    """The anchors of a page, as GitHub makes them from its headings."""
    headings = re.findall(r"^#+ (.+)$", without_blocks(text), re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def links() -> Iterator[tuple[Path, str]]:
    """Every page with every target of its links that is not on the network."""
    for path, text in TEXTS.items():
        for target in re.findall(r"\]\(([^)\s]+)\)", without_blocks(text)):
            if "://" not in target:
                yield path, target
