"""The examples are what they say: pipelines from public names alone, equal to the files that they repeat."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import windrow
from examples.aircraft import aircraft

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted(path for path in (ROOT / "examples").glob("*.py") if path.stem != "__init__")


def test_aircraft_is_its_file() -> None:
    said = windrow.Pipeline.from_yaml(ROOT / "conf/pipelines/aircraft.yaml")
    assert aircraft() == said and aircraft().to_mapping() == said.to_mapping()


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_needs_public_names_alone(path: Path) -> None:
    tree = ast.parse(path.read_text())
    froms = {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    whole = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    assert "windrow" in whole and not any(name.startswith("windrow") for name in froms | (whole - {"windrow"}))
    used = {
        node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute) and ast.unparse(node.value) == "windrow"
    }
    assert used <= set(windrow.__all__)
