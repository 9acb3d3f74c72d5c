"""The layers of `lib/windrow`, and who may import whom: read from the imports themselves, so that nothing is run.

An import counts wherever it stands, in a function or under `TYPE_CHECKING` too; but what is imported from outside only
for a type checker is nothing that runs.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

PACKAGE = "windrow"

# Each layer, from the lowest to the highest, with the layers below it that it may import; it may always import itself.
LAYERS: dict[str, frozenset[str]] = {
    "spec": frozenset(),
    "compile": frozenset({"spec"}),
    "engine": frozenset({"spec", "compile"}),
    "store": frozenset({"spec", "compile", "engine"}),
    "sources": frozenset({"spec", "compile", "engine"}),
    "quality": frozenset({"spec", "compile", "engine", "store", "sources"}),
    "view": frozenset({"spec"}),
    "drivers": frozenset({"spec", "compile", "engine", "store", "sources", "quality", "view"}),
    "testing": frozenset({"spec", "compile", "engine", "store", "sources", "quality", "view", "drivers"}),
    "cli": frozenset({"spec", "compile", "engine", "store", "sources", "quality", "view", "drivers", "testing"}),
    "airflow": frozenset({"spec", "store", "view", "drivers"}),
}

# What a layer must not import from outside: `spec` is plain Python, only tables and their drivers know Delta, and a
# scheduler has no Spark.
NOT_FROM_OUTSIDE: dict[str, frozenset[str]] = {
    "spec": frozenset({"pyspark", "delta", "py4j", "pandas", "pyarrow", "great_expectations"}),
    "compile": frozenset({"delta"}),
    "engine": frozenset({"delta"}),
    "view": frozenset({"delta"}),
    "airflow": frozenset({"pyspark", "delta", "py4j", "pandas", "great_expectations"}),
}

# Files that stand above all layers and may import any of them; of the layers none may import these.
TOP = frozenset({"__init__", "__main__", "extend"})


@dataclass(frozen=True)
class Violation:
    """One import that goes against the layers, or a file that is in none of them."""

    file: Path
    line: int
    rule: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.rule}"


def violations(lib: Path) -> list[Violation]:
    """Everything under `lib/windrow` that breaks the rules of the layers, by file and line."""
    files = sorted((lib / PACKAGE).rglob("*.py"))
    return [violation for file in files for violation in violations_in(file, file.relative_to(lib))]


def violations_in(file: Path, name: Path) -> Iterator[Violation]:
    module = name.with_suffix("").parts
    layer = module[1]
    if layer in TOP:
        return
    if layer not in LAYERS:
        yield Violation(name, 1, f"{layer} is not a layer; the layers are {', '.join(LAYERS)}")
        return
    tree = ast.parse(file.read_text(), str(file))
    for line, imported in imports(tree, module):
        rule = broken_rule(layer, imported)
        if rule is not None and not (imported[0] != PACKAGE and line in for_a_type_checker(tree)):
            yield Violation(name, line, rule)


def broken_rule(layer: str, imported: tuple[str, ...]) -> str | None:
    """What an import breaks when `layer` does it, or None when it is allowed."""
    dotted = ".".join(imported)
    if imported[0] != PACKAGE:
        forbidden = imported[0] in NOT_FROM_OUTSIDE.get(layer, frozenset())
        return f"{layer} may not import {dotted}" if forbidden else None
    if len(imported) == 1 or imported[1] not in LAYERS:
        return f"{layer} imports {dotted}, which is in no layer"
    if imported[1] == layer or imported[1] in LAYERS[layer]:
        return None
    allowed = ", ".join(name for name in LAYERS if name in LAYERS[layer]) or "no other layer"
    return f"{layer} may not import {dotted}; it may import {allowed}"


def for_a_type_checker(tree: ast.Module) -> set[int]:
    """The lines under `if TYPE_CHECKING:`."""
    blocks = [node for node in ast.walk(tree) if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"]
    return {line for block in blocks for one in block.body for line in range(one.lineno, (one.end_lineno or 0) + 1)}


def imports(tree: ast.Module, module: tuple[str, ...]) -> Iterator[tuple[int, tuple[str, ...]]]:
    """The line and the full name of everything that a module imports."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node.lineno, tuple(alias.name.split("."))
        elif isinstance(node, ast.ImportFrom):
            # One dot is the package of the module, which for an `__init__` is the module less its last part too.
            base = module[: len(module) - node.level] if node.level else ()
            source = (*base, *(node.module.split(".") if node.module else ()))
            for alias in node.names:
                # `from windrow import engine` names a layer; `from windrow.engine import tick` may name a function.
                yield node.lineno, (*source, alias.name) if source == (PACKAGE,) else source
