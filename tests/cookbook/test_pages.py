"""The recipes of docs/cookbook: each pipeline as the page has it, and what the page shows, by the reference model.

`WRITE=1 python -m pytest tests/cookbook/test_pages.py` writes the shown results and the transcripts anew.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from demo import recipes as of_pages
from demo.recipes import PIPELINE, Recipe, recipes
from tests.cli.command import windrow
from tests.cookbook.cases import case_of
from tests.cookbook.model_lake import ModelLake
from tests.cookbook.shell import ModelShell, agrees
from tests.cookbook.written import with_outputs
from tests.model.transcripts import check
from tests.spec.pages import DOCS, ROOT
from windrow.spec.pipelines.loading import load
from windrow.spec.transcripts.cases import read_transcripts

RECIPES = recipes()
TRANSCRIPTS = ROOT / "examples" / "cookbook"
WRITES = "WRITE" in os.environ

every_recipe = pytest.mark.parametrize("recipe", RECIPES, ids=lambda recipe: recipe.name)


@pytest.fixture
def folder(recipe: Recipe, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The current folder, with the files of the recipe."""
    recipe.write(tmp_path)
    monkeypatch.chdir(tmp_path)
    yield tmp_path


def test_there_are_thirty_tasks() -> None:
    assert [recipe.number for recipe in RECIPES] == list(range(1, 31))
    assert len({recipe.name for recipe in RECIPES}) == 30


def test_the_index_names_all_of_them() -> None:
    index = (DOCS / "cookbook.md").read_text()
    for recipe in RECIPES:
        anchor = re.sub(r"[^\w\- ]", "", f"{recipe.number} {recipe.title}".lower()).replace(" ", "-")
        assert f"[{recipe.title}](cookbook/{recipe.page}.md#{anchor})" in index


@every_recipe
def test_its_pipeline_is_right(recipe: Recipe, folder: Path) -> None:
    done = windrow("plan", PIPELINE)
    assert (done.code, done.err) == (0, "")
    assert f"Pipeline {recipe.name}" in done.out


@every_recipe
def test_it_says_what_comes_out(recipe: Recipe) -> None:
    shown = [command for command in recipe.commands if command.words.startswith("windrow show")]
    assert shown and all(command.shown for command in shown)


@every_recipe
def test_the_model_gives_what_the_page_shows(recipe: Recipe, folder: Path) -> None:
    shell = ModelShell()
    printed = [(command, shell.type(command.words)) for command in recipe.commands]
    if WRITES:
        write_outputs(recipe, [out for _, out in printed])
        return
    for command, out in printed:
        if out is not None and command.shown:
            assert agrees(command.shown, out.splitlines()), f"{command.words}\n{out}"


def write_outputs(recipe: Recipe, printed: list[str | None]) -> None:
    path = of_pages.PAGES / f"{recipe.page}.md"
    text = path.read_text()
    start = text.index(f"### {recipe.number}. ")
    end = text.find("\n### ", start)
    end = len(text) if end < 0 else end
    outputs = iter(printed)
    path.write_text(text[:start] + with_outputs(text[start:end], lambda _: next(outputs)) + text[end:])


# ---------------------------------------------------------------- transcripts


@cache
def case_text(recipe: Recipe) -> str:
    """The case of a recipe, whose files are in the current folder."""
    lake = ModelLake(load(Path(PIPELINE)))
    lake.run()
    return case_of(recipe, lake)


PAGES = sorted({recipe.page for recipe in RECIPES})


@pytest.mark.parametrize("page", PAGES)
def test_the_transcripts_are_those_of_the_page(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    head = (
        f"# The recipes of docs/cookbook/{page}.md, file by file: `windrow check examples/cookbook/{page}.yaml`.\n"
        "# Made from the page and the reference model by tests/cookbook/test_pages.py.\n"
    )
    cases = []
    for recipe in RECIPES:
        if recipe.page == page:
            recipe.write(tmp_path / recipe.name)
            monkeypatch.chdir(tmp_path / recipe.name)
            cases.append(case_text(recipe))
    text = head + "---\n".join(cases)
    path = TRANSCRIPTS / f"{page}.yaml"
    if WRITES:
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    assert path.read_text() == text
    assert f"examples/cookbook/{page}.yaml" in (of_pages.PAGES / f"{page}.md").read_text()


@pytest.mark.parametrize("page", PAGES)
def test_the_transcripts_pass_on_the_model(page: str) -> None:
    for case in read_transcripts(TRANSCRIPTS / f"{page}.yaml"):
        assert check(case) == [], case.name


# ---------------------------------------------------------------- the command that writes a recipe


def test_the_files_of_a_recipe(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.argv", ["recipes", "early_numbers"])
    of_pages.main()
    assert "out/early_numbers/pipeline.yaml" in capsys.readouterr().out
    files = sorted((tmp_path / "out" / "early_numbers" / "orders").iterdir(), key=lambda path: path.stat().st_mtime)
    assert [path.name for path in files] == ["1.csv", "2.csv", "3.csv"]
    with pytest.raises(SystemExit):
        of_pages.main()
    assert "is there and has files" in capsys.readouterr().err


def test_names_of_recipes(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture) -> None:
    monkeypatch.setattr("sys.argv", ["recipes"])
    of_pages.main()
    assert len(capsys.readouterr().out.splitlines()) == 30
    monkeypatch.setattr("sys.argv", ["recipes", "nothing"])
    with pytest.raises(SystemExit):
        of_pages.main()
    assert "there is no recipe 'nothing'" in capsys.readouterr().err


# ---------------------------------------------------------------- what pages leave out


@pytest.mark.parametrize(
    ("shown", "printed", "agree"),
    [
        ("a b", "a b", True),
        ("a b", "a b c", False),
        ("a ...", "a b c", True),
        ("... c", "a b c", True),
        ("... b ...", "a b c", True),
        ("... d ...", "a b c", False),
        ("...", "", True),
        ("a", "", False),
    ],
)
def test_a_page_may_leave_lines_out(shown: str, printed: str, agree: bool) -> None:
    assert agrees(shown.split(), printed.split()) == agree
