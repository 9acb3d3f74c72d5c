"""Only the strategies ask of which family a window is, and nobody of which class a trigger is."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from windrow.spec.triggers.all import TRIGGERS
from windrow.spec.triggers.custom import CustomTrigger

LIB = Path(__file__).parent.parent / "lib" / "windrow"

ASKING = {"merges", "made_by_records", "keeps_slices", "needs_spread"}
"""What a family of windows says of itself."""

HOMES = ("compile/windows/", "engine/windows/")
"""Where it is asked: what a window is as columns, and what a tick does with it."""

NOT_YET = {
    "compile/cells/cell.py", "compile/cells/state.py", "compile/stage.py", "drivers/pipeline/enlarged.py",
    "engine/compiling/chain.py",
}  # fmt: skip
"""The state of a cell, and what depends on how a stage is compiled, still ask; nothing else may begin to."""


def asks(file: Path) -> bool:
    tree = ast.parse(file.read_text())
    return any(isinstance(node, ast.Attribute) and node.attr in ASKING for node in ast.walk(tree))


def test_no_module_asks_which_family_a_window_is_of() -> None:
    files = {str(file.relative_to(LIB)) for file in LIB.rglob("*.py") if asks(file)}
    others = {file for file in files if not file.startswith(HOMES)}
    assert others == NOT_YET


def test_a_question_is_seen(tmp_path: Path) -> None:
    file = tmp_path / "a.py"
    file.write_text("def f(stage):\n    return stage.windows.merges\n")
    assert asks(file)


# ---------------------------------------------------------------- triggers

CLASSES = {cls.__name__ for cls in (*TRIGGERS.values(), CustomTrigger) if cls.__module__.startswith("windrow.")}


def asks_of_a_trigger(file: Path) -> bool:
    """Whether it matches on a class of triggers, or asks whether something is of one."""
    for node in ast.walk(ast.parse(file.read_text())):
        match node:
            case ast.MatchClass(cls=asked) | ast.Call(func=ast.Name("isinstance" | "issubclass"), args=[_, asked]):
                if CLASSES & {part.id for part in ast.walk(asked) if isinstance(part, ast.Name)}:
                    return True
    return False


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
