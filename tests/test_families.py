"""Only the strategies ask of which family a window is."""

from __future__ import annotations

import ast
from pathlib import Path

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
