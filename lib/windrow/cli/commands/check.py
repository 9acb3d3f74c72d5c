"""`windrow check`: transcripts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from windrow.cli.options import Conf, Json, Master, print_json
from windrow.cli.session import session
from windrow.spec.errors import FAILED, WRONG_INPUT, NotInThisVersion, SpecError
from windrow.spec.extensions import find_extensions_in
from windrow.spec.transcripts.cases import Case, read_transcripts
from windrow.view.check import CheckedCase, checked_mapping, file_text, summary

if TYPE_CHECKING:
    from windrow.testing.check import Outcome

Files = Annotated[list[Path], typer.Argument(metavar="FILE", help="Transcripts, or folders.", show_default=False)]


Draw = Annotated[
    Path | None,
    typer.Option("--draw", metavar="DIR", help="Write a picture (SVG) of each stage of each case that passed."),
]


def check(files: Files, draw: Draw = None, master: Master = None, conf: Conf = None, as_json: Json = False) -> None:
    """Run transcripts: each case shows a stage some elements, tick by tick, and says which panes must come out.

    A case that asks for what this version does not build is refused by name; that is no failure.

    Example: windrow check tests/transcripts/triggers.yaml
    """
    find_extensions_in(".")
    cases = {file: read_transcripts(file, strict=False) for file in found(files)}
    checked: list[CheckedCase] = []
    with ExitStack() as stack:
        run = _runner(stack, cases, master, conf)
        for file, read in cases.items():
            outcomes = run([case for case in read if _is_run(case)])
            of_file = [_checked(file, case, outcomes) for case in read]
            checked += of_file
            typer.echo(file_text(str(file), of_file), err=as_json)
            if draw is not None:
                _draw([case for case, result in zip(read, of_file, strict=True) if result.outcome == "passed"], draw)
    if as_json:
        print_json(checked_mapping(checked))
    else:
        typer.echo(f"\n{summary(checked)}")
    if any(case.broken is not None for read in cases.values() for case in read):
        raise typer.Exit(WRONG_INPUT)
    if any(case.messages for case in checked):
        raise typer.Exit(FAILED)


Run = Callable[[list[Case]], "Iterator[Outcome]"]


def _runner(stack: ExitStack, cases: Mapping[Path, list[Case]], master: Master, conf: Conf) -> Run:
    """What runs cases; Spark starts only where there are some."""
    if not any(_is_run(case) for read in cases.values() for case in read):
        return lambda _: iter(())
    spark = stack.enter_context(session(master, conf))
    from windrow.testing.check import check_cases

    return lambda read: check_cases(spark, read)


def found(paths: Iterable[Path]) -> list[Path]:
    """The files, and those of folders, by name. Errors: SpecError for a folder without any."""
    files: list[Path] = []
    for path in paths:
        inside = sorted(path.glob("*.yaml")) if path.is_dir() else [path]
        if not inside:
            raise SpecError(str(path), "is a folder without transcripts", None, "their names end with .yaml")
        files += inside
    return files


def _draw(cases: list[Case], folder: Path) -> None:
    from windrow.view.pictures.transcripts import drawings

    folder.mkdir(parents=True, exist_ok=True)
    for case in cases:
        for name, drawing in drawings(case):
            (folder / f"{name}.svg").write_text(drawing)


def _is_run(case: Case) -> bool:
    return refused(case) is None and case.broken is None


def _checked(file: Path, case: Case, outcomes: Iterator[Outcome]) -> CheckedCase:
    """The next outcome belongs to the case, unless that was not run."""
    messages = next(outcomes).messages if _is_run(case) else ()
    if case.broken is not None:
        messages = (f"cannot be read: {case.broken}",)
    return CheckedCase(str(file), case.name, refused(case), messages)


def refused(case: Case) -> str | None:
    """What this version does not build and the case asks for, or None."""
    return str(case.refusal) if isinstance(case.refusal, NotInThisVersion) else None
