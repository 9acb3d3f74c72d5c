"""The recipes of `docs/cookbook/` as values, and a command that writes the files of one.

    python -m demo.recipes                      # the names of all recipes
    python -m demo.recipes early_numbers        # its files, in the folder out/early_numbers

A recipe is a section of a page. Its YAML block is `pipeline.yaml`; a block behind a line that ends with a path in code
and a colon is that file; a `console` block has commands, each behind `$ `, and what they print. A line `...` stands for
lines that the page leaves out.
"""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

PAGES = Path(__file__).parent.parent / "docs" / "cookbook"
PIPELINE = "pipeline.yaml"

_HEADING = re.compile(r"^### (\d+)\. (.+)$", re.MULTILINE)
_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_NAMED = re.compile(r"`([\w./-]+)`:\s*$")
_NAME = re.compile(r"^pipeline: (\w+)$", re.MULTILINE)
_EARLIEST = 1_700_000_000
"""Of the modification times of files, in seconds: files are read in the order of these."""


@dataclass(frozen=True)
class File:
    """A file of a recipe: its path in the folder of the recipe, and its text."""

    path: str
    text: str


@dataclass(frozen=True)
class Command:
    """A command, and the lines that the page shows of what it prints; none if the page shows nothing of it."""

    words: str
    shown: tuple[str, ...]


@dataclass(frozen=True)
class Recipe:
    """A section of a page. `steps` are its files and commands, in the order of the page."""

    page: str
    number: int
    title: str
    steps: tuple[File | Command, ...]

    @property
    def files(self) -> Mapping[str, str]:
        """The texts of all files by their paths."""
        return {step.path: step.text for step in self.steps if isinstance(step, File)}

    @property
    def commands(self) -> Sequence[Command]:
        """All commands, in order."""
        return [step for step in self.steps if isinstance(step, Command)]

    @property
    def name(self) -> str:
        """The name of its pipeline. Raises ValueError where it has none."""
        found = _NAME.search(self.files.get(PIPELINE, ""))
        if found is None:
            raise ValueError(f"recipe {self.number} of {self.page}.md has no pipeline with a name")
        return found[1]

    def write(self, folder: Path) -> list[Path]:
        """Write all files, each with a modification time of its own in the order of the page. Gives their paths."""
        paths = []
        for number, (name, text) in enumerate(self.files.items()):
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
            os.utime(path, (_EARLIEST + number, _EARLIEST + number))
            paths.append(path)
        return paths


def recipes(pages: Path = PAGES) -> list[Recipe]:
    """All recipes, by their numbers."""
    found = [recipe for path in pages.glob("*.md") for recipe in recipes_of(path.stem, path.read_text("utf-8"))]
    return sorted(found, key=lambda recipe: recipe.number)


def recipes_of(page: str, text: str) -> Iterator[Recipe]:
    """The recipes of a page."""
    _, *parts = _HEADING.split(text)
    for number, title, section in zip(parts[::3], parts[1::3], parts[2::3], strict=True):
        yield Recipe(page, int(number), title, tuple(steps_of(section)))


def steps_of(section: str) -> Iterator[File | Command]:
    """The files and commands of a section, in order."""
    for block in _BLOCK.finditer(section):
        language, text = block[1], block[2]
        named = _NAMED.search(section[: block.start()])
        if language == "console":
            yield from _commands(text)
        elif named is not None:
            yield File(named[1], text)
        elif language == "yaml":
            yield File(PIPELINE, text)


def _commands(text: str) -> Iterator[Command]:
    for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        words, _, printed = part.replace("\\\n", " ").partition("\n")
        yield Command(words, tuple(printed.rstrip("\n").split("\n")) if printed.strip() else ())


def main() -> None:
    """Write the files of a recipe, or name all of them."""
    parser = argparse.ArgumentParser(description="Write the files of a recipe of docs/cookbook.")
    parser.add_argument("name", nargs="?", help="a recipe; without it all names are printed")
    parser.add_argument("folder", nargs="?", type=Path, help="where its files go; out/NAME by default")
    arguments = parser.parse_args()
    by_name = {recipe.name: recipe for recipe in recipes()}
    if arguments.name is None:
        print("\n".join(f"{recipe.number:2}  {name:20} {recipe.title}" for name, recipe in by_name.items()))
        return
    if arguments.name not in by_name:
        parser.error(f"there is no recipe {arguments.name!r}; one of {', '.join(by_name)}")
    folder = arguments.folder or Path("out", arguments.name)
    if folder.exists() and any(folder.iterdir()):
        parser.error(f"{folder} is there and has files: name another folder")
    for path in by_name[arguments.name].write(folder):
        print(path)


if __name__ == "__main__":
    main()
