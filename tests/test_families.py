"""Only the strategies ask of which family a window is, and nobody of which class a trigger or a connector is.

Nor does anybody ask which columns a frame happens to have.
"""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from windrow.spec.sources.all import CONNECTORS
from windrow.spec.triggers.all import TRIGGERS
from windrow.spec.triggers.custom import CustomTrigger

LIB = Path(__file__).parent.parent / "lib" / "windrow"

ASKING = {"merges", "made_by_records", "keeps_slices", "needs_spread"}
"""What a family of windows says of itself."""

SPECIFIED = {"MERGES", "MADE_BY_RECORDS"}
"""The same of what the user writes; the rules by which it is refused are in `spec/`."""

HOMES = ("compile/windows/", "engine/windows/", "spec/windows/all.py", "view/notebook/windows.py")
"""Where it is asked: what a window is as columns, what a tick does with it, and how it is drawn."""


def defined_in(folder: str) -> set[str]:
    """The classes of a folder of the library."""
    trees = [ast.parse(file.read_text()) for file in (LIB / folder).glob("*.py")]
    return {node.name for tree in trees for node in tree.body if isinstance(node, ast.ClassDef)}


WINDOWS = (defined_in("compile/windows") | defined_in("spec/windows")) - {"CustomWindows"}
"""Window functions, and what they are compiled to; a class of the user's own is none of the families."""


def classes_asked(tree: ast.Module) -> set[str]:
    """The names that it matches on as classes, or asks whether something is of them."""
    found: set[str] = set()
    for node in ast.walk(tree):
        match node:
            case ast.MatchClass(cls=asked) | ast.Call(func=ast.Name("isinstance" | "issubclass"), args=[_, asked]):
                found |= {part.id for part in ast.walk(asked) if isinstance(part, ast.Name)}
    return found


def asks(file: Path, specified: bool = True) -> bool:
    """Whether it asks of which family a window is; `specified`: what the user wrote, too."""
    tree, asking = ast.parse(file.read_text()), ASKING | (SPECIFIED if specified else set())
    attributes = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    return bool(attributes & asking or classes_asked(tree) & WINDOWS)


def test_no_module_asks_which_family_a_window_is_of() -> None:
    files = {str(file.relative_to(LIB)): file for file in LIB.rglob("*.py")}
    others = {name for name, file in files.items() if asks(file, not name.startswith("spec/"))}
    assert not {name for name in others if not name.startswith(HOMES)}


@pytest.mark.parametrize(
    "question",
    [
        "stage.windows.merges",
        "stage.window.MERGES",
        "isinstance(windows, (MergingWindows, CompiledInherited))",
        "isinstance(stage.window, Sessions)",
    ],
)
def test_a_question_is_seen(question: str, tmp_path: Path) -> None:
    file = tmp_path / "a.py"
    file.write_text(f"def f(stage):\n    return {question}\n")
    assert asks(file)


# ---------------------------------------------------------------- columns


def looks_for_a_column(file: Path) -> bool:
    """Whether it asks if a frame, or a chain over one, has a column."""
    comparisons = [node for node in ast.walk(ast.parse(file.read_text())) if isinstance(node, ast.Compare)]
    return any(
        isinstance(operator, ast.In | ast.NotIn) and isinstance(asked, ast.Attribute) and asked.attr in _COLUMNS
        for node in comparisons
        for operator, asked in zip(node.ops, node.comparators, strict=True)
    )


_COLUMNS = {"columns", "fieldNames"}


def test_no_module_asks_which_columns_a_frame_has() -> None:
    """What a frame means is said by an argument, or by the stage: a column that is there by chance decides nothing."""
    assert not [file for file in LIB.rglob("*.py") if looks_for_a_column(file)]


@pytest.mark.parametrize("question", ["name in frame.columns", "[n for n in names if n not in self.rows.columns]"])
def test_a_look_for_a_column_is_seen(question: str, tmp_path: Path) -> None:
    file = tmp_path / "a.py"
    file.write_text(f"{question}\n")
    assert looks_for_a_column(file)


# ---------------------------------------------------------------- triggers

CLASSES = {cls.__name__ for cls in (*TRIGGERS.values(), CustomTrigger) if cls.__module__.startswith("windrow.")}


def asks_of_a_trigger(file: Path) -> bool:
    """Whether it matches on a class of triggers, or asks whether something is of one."""
    return bool(CLASSES & classes_asked(ast.parse(file.read_text())))


def test_no_module_asks_of_which_class_a_trigger_is() -> None:
    assert not [file for file in LIB.rglob("*.py") if asks_of_a_trigger(file)]


@pytest.mark.parametrize(
    "asks",
    [
        "match trigger:\n    case Repeat(repeat=AtWatermark()):\n        pass\n",
        "isinstance(trigger, AtClose | Never)\n",
        "issubclass(type(trigger), (CustomTrigger,))\n",
    ],
    ids=["match", "isinstance", "issubclass"],
)
def test_a_question_of_a_trigger_is_seen(asks: str, tmp_path: Path) -> None:
    file = tmp_path / "a.py"
    file.write_text(asks)
    assert asks_of_a_trigger(file)


# ---------------------------------------------------------------- sources

CONNECTOR_CLASSES = {cls.__name__ for cls in CONNECTORS.values()}
READS_FILES = "drivers/ingest/landing.py"
"""Files alone have faults of their own, which landing looks into."""


def asks_of_a_connector(file: Path) -> bool:
    """Whether it asks of which class a source's connector is, or for one of them by name."""
    tree = ast.parse(file.read_text())
    named = {
        node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and ast.unparse(node.value).endswith("source")
    }
    return bool(CONNECTOR_CLASSES & classes_asked(tree) or CONNECTORS.keys() & named)


def test_no_module_asks_which_connector_a_source_has() -> None:
    files = {str(file.relative_to(LIB)) for file in LIB.rglob("*.py") if asks_of_a_connector(file)}
    assert {name for name in files if not name.startswith("sources/")} == {READS_FILES}


@pytest.mark.parametrize("asks", ["match c:\n    case Kafka():\n        pass\n", "self.source.delta is None\n"])
def test_a_question_of_a_connector_is_seen(asks: str, tmp_path: Path) -> None:
    file = tmp_path / "a.py"
    file.write_text(asks)
    assert asks_of_a_connector(file)
