"""A layer imports only from the layers below it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.layers import violations

LIB = Path(__file__).parent.parent / "lib"


def test_the_layers_hold() -> None:
    found = violations(LIB)
    assert not found, "imports against the layers:\n" + "\n".join(map(str, found))


@pytest.mark.parametrize(
    ("file", "source", "rule"),
    [
        ("spec/a.py", "from windrow.drivers.land import land", "spec may not import windrow.drivers.land"),
        ("spec/a.py", "import windrow.compile", "spec may not import windrow.compile"),
        ("spec/a.py", "def f():\n    import pyspark.sql", "spec may not import pyspark.sql"),
        (
            "spec/a.py",
            "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from windrow.engine import tick",
            "spec may not import windrow.engine",
        ),
        ("compile/a.py", "from windrow import store", "compile may not import windrow.store"),
        ("compile/a.py", "from ..engine import tick", "compile may not import windrow.engine"),
        ("compile/__init__.py", "from ..engine import tick", "compile may not import windrow.engine"),
        ("compile/deep/a.py", "from ...engine import tick", "compile may not import windrow.engine"),
        ("engine/a.py", "from delta.tables import DeltaTable", "engine may not import delta.tables"),
        ("sources/a.py", "from windrow.store import raw", "sources may not import windrow.store"),
        ("view/a.py", "from windrow.compile import assign", "view may not import windrow.compile"),
        ("drivers/a.py", "from windrow.cli import main", "drivers may not import windrow.cli"),
        ("drivers/a.py", "from windrow import backfill", "drivers imports windrow.backfill, which is in no layer"),
        ("drivers/a.py", "import windrow", "drivers imports windrow, which is in no layer"),
        ("helpers.py", "", "helpers is not a layer"),
    ],
)
def test_an_import_against_the_layers_is_reported(tmp_path: Path, file: str, source: str, rule: str) -> None:
    write(tmp_path, file, source)
    [violation] = violations(tmp_path)
    assert str(violation).startswith(f"windrow/{file}:")
    assert rule in str(violation)


@pytest.mark.parametrize(
    ("file", "source"),
    [
        ("__init__.py", "from windrow.drivers import land"),
        ("spec/a.py", "import yaml\nfrom windrow.spec.times import Duration\nfrom . import times"),
        ("spec/deep/a.py", "from ..times import Duration"),
        ("compile/a.py", "from pyspark.sql import Column\nfrom windrow.spec import Stage"),
        ("spec/a.py", "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from pyspark.sql import DataFrame"),
        ("store/a.py", "from delta.tables import DeltaTable\nfrom windrow import engine"),
        ("drivers/a.py", "from ..view import text"),
        ("cli.py", "from .drivers import land\nfrom windrow.view import text"),
    ],
)
def test_an_import_along_the_layers_is_not(tmp_path: Path, file: str, source: str) -> None:
    write(tmp_path, file, source)
    assert violations(tmp_path) == []


def test_the_line_of_the_import_is_named(tmp_path: Path) -> None:
    write(tmp_path, "spec/a.py", "import re\n\nimport windrow.store\n")
    assert str(violations(tmp_path)[0]).startswith("windrow/spec/a.py:3: ")


def test_a_specification_is_read_without_spark() -> None:
    program = "import sys, windrow.spec; sys.exit(', '.join({'pyspark', 'pandas'} & sys.modules.keys()) or 0)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, f"`import windrow.spec` brings in: {done.stderr}"


def write(lib: Path, file: str, source: str) -> None:
    path = lib / "windrow" / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(source)
