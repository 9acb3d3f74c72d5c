"""References from code to the pages of docs/: each leads to a heading that is there, and none is a number."""

import re
from collections.abc import Iterator
from pathlib import Path

from tests.spec.pages import DOCS, ROOT, TEXTS, anchors

FOLDERS = ("lib", "tests", "dags", "jobs", "demo", "examples", "bench")
KINDS = (".py", ".yaml", ".html")
PAGE = "docs/semantics.md"

HEADINGS = {path: anchors(text) for path, text in TEXTS.items()}
REFERENCE = re.compile(r"\bdocs/([\w-]+)\.md\b(?:#([\w-]*))?")
NUMBERED = re.compile(r"[S]EMANTICS\b|\b(?:[Ss]emantics|[Ss]ections?) \d")
"""A rule by a number, which no page has, or the rules by a name that none has."""


def lines() -> Iterator[tuple[str, str]]:
    """Every line of code and of what stands beside it, with its place."""
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in KINDS:
                for number, line in enumerate(path.read_text().splitlines(), 1):
                    yield f"{path.relative_to(ROOT)}:{number}", line


def dead(line: str) -> list[str]:
    """The references of a line that lead nowhere."""
    return [found[0] for found in REFERENCE.finditer(line) if not leads(DOCS / f"{found[1]}.md", found[2])]


def leads(page: Path, heading: str | None) -> bool:
    return page in HEADINGS and (heading is None or heading in HEADINGS[page])


def test_every_reference_leads_to_a_heading() -> None:
    found = [(place, line) for place, line in lines() if REFERENCE.search(line)]
    assert found
    assert not [f"{place}: {reference}" for place, line in found for reference in dead(line)]


def test_no_reference_is_a_number() -> None:
    assert not [f"{place}: {line.strip()}" for place, line in lines() if NUMBERED.search(line)]


def test_a_reference_that_leads_nowhere_is_found() -> None:
    assert not dead(f"Rules: {PAGE}#ticks, {PAGE}#where-todays-systems-disagree.")
    for wrong in (f"{PAGE}#tick", f"{PAGE}#", f"{PAGE}#late-", "docs/{}.md".format("rules")):
        assert dead(f"Rules: {PAGE}#ticks, {wrong}.") == [wrong]
