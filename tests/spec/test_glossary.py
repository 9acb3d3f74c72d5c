"""The glossary of docs/semantics.md against the pages and the code, and the words that are not used instead of it."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator

import pytest

import windrow
from tests.spec.pages import ROOT, TEXTS, coded, section, table_of, without_blocks

GLOSSARY = {row["term"]: row["meaning"] for row in table_of("semantics", "Glossary", "term")}

NOWHERE = {
    r"\bbr(ing|ings|inging|ought) up\b": "catch up, project",
    r"\bmend(s|ed|ing)?\b": "fix",
    r"\bbarriers?\b": "closed-window guard: a barrier is what Flink sends between checkpoints",
    r"\bevict\w*": "expire",
}
"""Words of which there is none in the pages nor in the strings of the code, with the word of the glossary."""

NOT_ON_PAGES = NOWHERE | {
    r"\bfold(s|ed|ing)?\b": "compact",
    r"\bbases?\b": "snapshot",
    r"\bwithdr\w+": "retract, retraction",
    r"\ba guess\b|\bguesses\b": "an early result",
    r"\bupkeep\b": "maintenance",
    r"\bthat which\b|\bthose of it\b": "a noun",
}
"""Words of which there is none in the prose of the pages."""


def prose(text: str) -> str:
    """A page without its code, on one line."""
    return re.sub(r"\s+", " ", re.sub(r"`[^`]+`", "", without_blocks(text)))


PROSE = {path: prose(text) for path, text in TEXTS.items()}


def strings() -> Iterator[tuple[str, str]]:
    """Every string of the library, docstrings too, with its place."""
    for path in sorted((ROOT / "lib").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield f"{path.relative_to(ROOT)}:{node.lineno}", node.value


def found(word: str, texts: Iterator[tuple[str, str]]) -> list[str]:
    return [f"{place}: {match[0]}" for place, text in texts for match in re.finditer(word, text, re.I)]


def test_the_terms_are_sorted() -> None:
    terms = list(GLOSSARY)
    assert terms == sorted(terms, key=str.lower)
    assert all(GLOSSARY.values())


@pytest.mark.parametrize("term", GLOSSARY)
def test_every_term_is_used(term: str) -> None:
    """On a page, outside of the glossary, or in the docstring of a public name."""
    pages = " ".join(PROSE.values()).replace(prose(section("semantics", "Glossary")), "")
    docstrings = " ".join(inspect.getdoc(getattr(windrow, name)) or "" for name in windrow.__all__)
    assert re.search(rf"\b{re.escape(term)}", f"{pages} {docstrings}", re.I)


def test_every_name_in_the_glossary_is_in_the_code() -> None:
    code = "\n".join(path.read_text() for path in (ROOT / "lib").rglob("*.py"))
    names = {name for meaning in GLOSSARY.values() for text in coded(meaning) for name in re.findall(r"\w+", text)}
    assert names and not {name for name in names if not re.search(rf"\b{name}\b", code)}


@pytest.mark.parametrize("word", NOT_ON_PAGES)
def test_no_other_word_on_the_pages(word: str) -> None:
    assert not found(word, ((path.name, text) for path, text in PROSE.items())), NOT_ON_PAGES[word]


@pytest.mark.parametrize("word", NOWHERE)
def test_no_other_word_in_the_code(word: str) -> None:
    assert not found(word, strings()), NOWHERE[word]
