"""Nobody asks whether a stage has named inputs or is a join, but those who read, write and show what users wrote."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

LIB = Path(__file__).parent.parent / "lib" / "windrow"

WRITTEN = {
    "spec/stages/stage.py", "spec/stages/inputs.py", "spec/stages/graph.py", "spec/stages/joins.py",
    "spec/pipelines/fingerprint.py", "view/plan/stages.py", "testing/history.py",
}  # fmt: skip
"""What the user wrote: fields, `from`, the shape of a fingerprint, the words of a plan; one frame is one input."""

TOLD = {
    "compile/names/combined.py", "spec/pipelines/column_comments.py", "spec/pipelines/lineage.py",
    "drivers/inspect/explain/computing/contents.py", "drivers/inspect/explain/computing/following.py",
    "drivers/inspect/explain/computing/panes.py",
}  # fmt: skip
"""What is told of a column, a row or a window: of a join it is another story, as it has no aggregates."""

ONE_PLACE = {"compile/panes/shown.py"}
"""Where it is decided how the panes of a stage are shown."""


def questions(tree: ast.AST) -> Iterator[ast.expr]:
    """Every expression whose truth decides something."""
    for node in ast.walk(tree):
        match node:
            case ast.If(test=test) | ast.IfExp(test=test) | ast.While(test=test):
                yield test
            case ast.UnaryOp(op=ast.Not(), operand=test):
                yield test
            case ast.BoolOp(values=values):
                yield from values
            case ast.comprehension(ifs=values):
                yield from values


def asks(file: Path) -> bool:
    for question in questions(ast.parse(file.read_text())):
        match question:
            case ast.Attribute(attr="inputs" | "join") | ast.Compare(left=ast.Attribute(attr="inputs" | "join")):
                return True
    return False


def test_no_other_module_asks() -> None:
    assert {str(file.relative_to(LIB)) for file in LIB.rglob("*.py") if asks(file)} == WRITTEN | TOLD | ONE_PLACE


@pytest.mark.parametrize(
    "asking", ["if stage.inputs:\n    pass", "x = 1 if not stage.inputs else 2", "y = 1 if stage.join is None else 2",
               "z = a and stage.inputs"],
)  # fmt: skip
def test_a_question_is_seen(asking: str, tmp_path: Path) -> None:
    file = tmp_path / "a.py"
    file.write_text(asking)
    assert asks(file)
