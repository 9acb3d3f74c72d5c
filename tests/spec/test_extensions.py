"""Modules of a user's own: what they register may be named in a file; what goes wrong in them is said."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

import windrow
from windrow.spec.extensions import load_extensions, register
from windrow.spec.pipelines.loading import load
from windrow.spec.windows.aligned import FixedWindows
from windrow.spec.windows.all import WINDOW_FUNCTIONS

PIPELINE = """
pipeline: p
lake: lake
extensions: [{module}]
sources:
  - {{name: rows, files: {{path: data}}, schema: "v bigint", event_time: now, watermark: {{processing_time: {{}}}}}}
stages:
  - {{name: hourly, window: {{half_hours: {{}}}}, aggregates: {{n: {{count: "*"}}}}}}
"""
MODULE = """
from dataclasses import dataclass
import windrow

@windrow.register
@dataclass(frozen=True)
class HalfHours(windrow.FixedWindows):
    NAME = "half_hours"
    size: int = 30 * 60 * 1_000_000
"""


@pytest.fixture(autouse=True)
def untouched(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The registries and the path as they were."""
    monkeypatch.setattr("sys.path", [*sys.path])
    before = dict(WINDOW_FUNCTIONS)
    yield
    WINDOW_FUNCTIONS.clear()
    WINDOW_FUNCTIONS.update(before)


def project(root: Path, module: str, text: str) -> Path:
    (root / f"{module}.py").write_text(text)
    (root / "p.yaml").write_text(PIPELINE.format(module=module))
    return root


def test_a_file_names_what_a_module_of_its_project_registers(tmp_path: Path) -> None:
    pipeline = load("p.yaml", project=project(tmp_path, "half_hours_of_a_project", MODULE))
    window = pipeline.stages[0].window
    assert isinstance(window, FixedWindows) and window.size == 30 * 60 * 1_000_000
    assert windrow.Pipeline.from_mapping(pipeline.to_mapping()) == pipeline


def test_a_module_that_is_not_there_or_fails_is_an_error_with_its_place(tmp_path: Path) -> None:
    for module, text, wanted in [
        ("half_hours_broken", "1 / 0", "ZeroDivisionError: division by zero"),
        (
            "half_hours_wrong",
            "import windrow\nwindrow.register(int)",
            "takes window functions, triggers and aggregates",
        ),
    ]:
        with pytest.raises(windrow.SpecError) as error:
            load("p.yaml", project=project(tmp_path, module, text))
        assert wanted in str(error.value) and "extensions[0]" in str(error.value)
    with pytest.raises(windrow.SpecError, match=r'extensions\[0\] cannot be imported.*got "no_such_module"'):
        load_extensions(["no_such_module"])


def test_a_name_is_taken_once() -> None:
    @dataclass(frozen=True)
    class Hourly(FixedWindows):
        NAME = "fixed"

    with pytest.raises(windrow.SpecError, match=r"is taken by windrow\.spec\.windows\.aligned\.FixedWindows"):
        register(Hourly)

    class Nameless(FixedWindows):
        NAME = "not a name"

    with pytest.raises(windrow.SpecError, match="must be the name in YAML"):
        register(Nameless)
    assert register(FixedWindows) is FixedWindows


def test_how_windows_of_ones_own_merge() -> None:
    class Merging(windrow.CustomWindows):
        merge = "overlap"

    class ByHand(windrow.CustomWindows):
        def merge(self, windows: windrow.compile.sql.columns.Column) -> windrow.compile.sql.columns.Column:
            return windows

    assert Merging.MERGES and ByHand.MERGES and not windrow.CustomWindows.MERGES
    with pytest.raises(windrow.SpecError, match=r"Touching\.merge must be none, overlap, or a method; got .touch."):

        class Touching(windrow.CustomWindows):
            merge = "touch"


def test_the_longest_window_is_checked_when_the_value_is_made() -> None:
    @dataclass(frozen=True)
    class Endless(windrow.CustomWindows):
        NAME = "endless"
        longest: int = 0

    assert Endless(1).longest == 1
    for wrong in (0, -1, 2**62, "1h"):
        with pytest.raises(windrow.SpecError, match="longest must be positive"):
            Endless(wrong)  # type: ignore[arg-type]
