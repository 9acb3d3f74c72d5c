"""docs/first-pipeline.md, typed from its beginning to its end: without Spark by the reference model, and as it is.

`WRITE=1 python -m pytest tests/cookbook/test_first_pipeline.py` writes the shown results anew.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from demo.recipes import Command, File, steps_of
from tests.cookbook.shell import ModelShell, RealShell, agrees
from tests.cookbook.test_in_spark import in_folder, no_terminal
from tests.cookbook.written import with_outputs
from tests.model.transcripts import check
from tests.spec.pages import DOCS, PAGES, ROOT
from windrow.spec.transcripts.cases import read_transcripts

PAGE = PAGES["first-pipeline"]
STEPS = list(steps_of(PAGE))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The current folder, with the file of the page."""
    (tmp_path / "examples").mkdir()
    shutil.copy(ROOT / "examples" / "trips.csv", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(os, "get_terminal_size", no_terminal)
    yield tmp_path


def typed(shell: ModelShell | RealShell, folder: Path) -> Iterator[tuple[Command, str | None]]:
    """Every command with what it prints; a file that the page shows has been written by then."""
    for step in STEPS:
        if isinstance(step, File):
            assert (folder / step.path).read_text() == step.text
        else:
            yield step, shell.type(step.words)


def test_the_page_shows_what_comes_out(folder: Path) -> None:
    printed = list(typed(ModelShell(), folder))
    if "WRITE" in os.environ:
        outputs = iter(printed)
        (DOCS / "first-pipeline.md").write_text(with_outputs(PAGE, lambda _: next(outputs)[1]))
        return
    for command, out in printed:
        if out is not None and command.shown:
            assert agrees(command.shown, out.splitlines()), f"{command.words}\n{out}"
    (case,) = read_transcripts(folder / "out" / "trips-transcript.yaml")
    assert check(case) == []


def test_the_commands_in_the_order_in_which_one_meets_them() -> None:
    commands = [step.words.split()[1] for step in STEPS if isinstance(step, Command) and "windrow" in step.words]
    assert list(dict.fromkeys(commands)) == ["init", "plan", "check", "run", "show", "explain", "simulate"]


def test_every_command_works_on_the_engine(spark, folder: Path) -> None:
    with in_folder(spark, folder):
        for command, out in typed(RealShell(), folder):
            if command.shown:
                assert agrees(command.shown, str(out).splitlines()), f"{command.words}\n{out}"
