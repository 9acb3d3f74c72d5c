"""The glossary of docs/semantics.md against the pages and the code, and the words that are not used instead of it."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterable, Iterator
from functools import cache

import pytest

import windrow
from tests.spec.pages import ROOT, TEXTS, coded, section, table_of, without_blocks

GLOSSARY = {row["term"]: row["meaning"] for row in table_of("semantics", "Glossary", "term")}

NOWHERE = {
    r"\bbr(ing|ings|inging|ought) up\b": "catch up, project",
    r"\bmend(s|ed|ing)?\b": "fix",
    r"\bbarriers?\b": "closed-window guard: a barrier is what Flink sends between checkpoints",
    r"\bevict\w*": "expire",
    r"\b(un)?folded\b|\bfolds\b": "compact, compacted",
    r"\bsurvey\w*": "batch statistics",
    r"\btak(e|es|en|ing)[ _]in\b(?! the order)": "restate",
    r"\btak(e|es|en|ing)[ _]over\b": "migrate",
    r"withdr\w+": "retract, retraction",
}
"""Words of which there is none in the pages nor in the strings of the code, with the word of the glossary."""

NOT_IN_NAMES = {
    r"(un)?fold(s|ed|ing)?|bases?": "compact, snapshot",
    r"survey(s|ed|ing)?": "batch statistics",
    r"held": "admission, watermark hold",
    r"remember(s|ed)?|reach": "retention",
    r"marks?|marked|pieces?": "window id, slice",
    r"asks?|asked": "evaluate, evaluated",
    r"meanings?": "fingerprint",
    r"withdr\w+": "retracts, retracted, retraction",
    r"barriers?|mend(s|ed)?|evict(s|ed)?": "closed-window guard, fix, expire",
}
"""Words that are no part of a name in the library, with the word of the glossary."""

NO_NAMES = {
    "taken_in": "restated", "takes_in": "restates", "take_in": "restate", "take_over": "migrate",
    "left_out": "unrestated, quarantined_files", "is_taken_in": "is_restated",
}  # fmt: skip
"""Names that the library does not have, with those that it has instead."""

PLAIN = {
    ("held_back", ""): "the verb: a watermark is held back",
    ("held_by", ""): "what holds it back",
    ("MarkedYAMLError", ""): "of PyYAML", ("start_mark", ""): "of PyYAML", ("problem_mark", ""): "of PyYAML",
    ("BaseOperator", ""): "of Airflow", ("BaseTrigger", ""): "of Airflow",
    ("BaseEventTrigger", ""): "of Airflow",
    ("BaseNotifier", ""): "of Airflow",
    ("BaseException", ""): "of Python", ("BaseResolver", ""): "of PyYAML",
    ("base", "spec/extensions.py"): "a base class",
    ("base", "cli/errors.py"): "a base class",
    ("base", "compile/aggregates/variance.py"): "of a number system",
    ("fold", "compile/windows/local_time.py"): "of datetime",
    ("marks", "view/"): "on an axis",
    ("_mark", "view/"): "on an axis",
}  # fmt: skip
"""Names in which such a word means what it means in English or to another library, where, and what."""
NOT_ON_PAGES = NOWHERE | {
    r"\bfold(s|ed|ing)?\b": "compact",
    r"\bbases?\b(?! install)": "snapshot",
    r"\bsurvey\w*": "batch statistics",
    r"\ba guess\b|\bguesses\b": "an early result",
    r"\bupkeep\b": "maintenance",
    r"\bthat which\b|\bthose of it\b": "a noun",
}
"""Words of which there is none in the prose of the pages."""


def prose(text: str) -> str:
    """A page without its code, on one line."""
    return re.sub(r"\s+", " ", re.sub(r"`[^`]+`", "", without_blocks(text)))


PROSE = {path: prose(text) for path, text in TEXTS.items()}


@cache
def strings() -> list[tuple[str, str]]:
    """Every string of the library, docstrings too, with its place."""
    return [
        (f"{path.relative_to(ROOT)}:{node.lineno}", node.value)
        for path in sorted((ROOT / "lib").rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    ]


@cache
def names() -> list[tuple[str, str, ast.AST]]:
    """Every name that the code of the library gives or uses, with its file; of modules too."""
    return list(_names())


def _names() -> Iterator[tuple[str, str, ast.AST]]:
    for path in sorted((ROOT / "lib" / "windrow").rglob("*.py")):
        file = str(path.relative_to(ROOT / "lib" / "windrow"))
        if path.stem != "base":
            yield path.stem, file, ast.Module([], [])
        for node in ast.walk(ast.parse(path.read_text())):
            for name in _names_of(node):
                yield name, file, node


def _names_of(node: ast.AST) -> tuple[str, ...]:
    match node:
        case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
            return (name,)
        case ast.Name(id=name) | ast.Attribute(attr=name) | ast.arg(arg=name) | ast.keyword(arg=str(name)):
            return (name,)
        case ast.alias(name=name, asname=other):
            return (other,) if other else () if "." in name else (name,)
    return ()


def is_plain(name: str, file: str) -> bool:
    return any(name == known and file.startswith(where) for known, where in PLAIN)


@cache
def words_of(name: str) -> list[str]:
    """The words of a name: `take_in`, `TakeIn` and `TAKE_IN` have the same two."""
    return [word.lower() for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", name)]


def found(word: str, texts: Iterable[tuple[str, str]]) -> list[str]:
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


@pytest.mark.parametrize("word", NOT_IN_NAMES)
def test_no_other_word_in_names(word: str) -> None:
    wrong = {
        f"{file}: {name}"
        for name, file, _ in names()
        if not is_plain(name, file) and any(re.fullmatch(word, part) for part in words_of(name))
    }
    assert not wrong, NOT_IN_NAMES[word]


@pytest.mark.parametrize("name", NO_NAMES)
def test_no_such_name(name: str) -> None:
    assert name not in {known for known, _, _ in names()}, NO_NAMES[name]


def test_every_plain_name_is_there() -> None:
    known = [(name, file) for name, file, _ in names()]
    assert not [one for one in PLAIN if not any(is_of(one, *name) for name in known)]


def is_of(plain: tuple[str, str], name: str, file: str) -> bool:
    return name == plain[0] and file.startswith(plain[1])


def test_a_place_is_where_something_is_in_a_file_or_specification() -> None:
    """So it is a text: how far a log is read are offsets or a step, a number in a list is an index."""
    wrong = [
        f"{file}:{node.lineno}: {ast.unparse(node)}"
        for name, file, node in names()
        if name == "place" and isinstance(node, ast.arg) and node.annotation is not None
        if ast.unparse(node.annotation) != "str"
    ]
    assert not wrong
