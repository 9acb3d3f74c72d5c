"""The recipes of docs/cookbook on the engine: their transcripts, and their commands as a reader types them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from demo.recipes import Recipe, recipes
from tests.cookbook.shell import RealShell, agrees
from tests.spec.pages import ROOT
from windrow.spec.transcripts.cases import read_transcripts
from windrow.testing.check import check_cases

FILES = sorted((ROOT / "examples" / "cookbook").glob("*.yaml"))


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_the_transcripts_pass_on_the_engine(spark, file: Path) -> None:
    for outcome in check_cases(spark, read_transcripts(file)):
        assert outcome.passed, (outcome.case, outcome.messages)


SHORT = ("early_numbers", "too_late", "wrong_clocks")
"""Those that every run types; the others are long together, and their transcripts have run."""


def of(recipe: Recipe) -> object:
    return pytest.param(recipe, id=recipe.name, marks=() if recipe.name in SHORT else pytest.mark.long)


@pytest.mark.parametrize("recipe", [of(recipe) for recipe in recipes()])
def test_the_commands_print_what_the_page_shows(
    spark, recipe: Recipe, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recipe.write(tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(os, "get_terminal_size", no_terminal)
    shell = RealShell()
    with in_folder(spark, tmp_path):
        for command in recipe.commands:
            printed = shell.type(command.words)
            if command.shown:
                assert agrees(command.shown, printed.splitlines()), f"{command.words}\n{printed}"


@contextmanager
def in_folder(spark: SparkSession, folder: Path) -> Iterator[None]:
    """The JVM of the tests takes relative paths from this folder, as one does that was started there."""
    java: Any = spark
    paths = java._jvm.org.apache.hadoop.fs
    files = paths.FileSystem.get(paths.Path("file:///").toUri(), java._jsparkSession.sessionState().newHadoopConf())
    before = files.getWorkingDirectory()
    files.setWorkingDirectory(paths.Path(str(folder)))
    try:
        yield
    finally:
        files.setWorkingDirectory(before)


def no_terminal(*_: object) -> os.terminal_size:
    """What is printed is as wide as it is, as in a pipe."""
    raise OSError
