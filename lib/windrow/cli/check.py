"""`windrow check`: transcripts."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from windrow.cli.errors import FAILED
from windrow.cli.options import Conf, Json, Master, print_json
from windrow.cli.session import session
from windrow.spec.errors import NotInThisVersion
from windrow.spec.transcripts import Case, read_transcripts
from windrow.view.checked import CheckedCase, checked_mapping, checked_text

Files = Annotated[list[Path], typer.Argument(metavar="FILE", help="Transcripts.", show_default=False)]


def check(files: Files, master: Master = None, conf: Conf = None, as_json: Json = False) -> None:
    """Run transcripts: each case shows a stage some elements, tick by tick, and says which panes must come out.

    A case that asks for what this version does not build is refused by name; that is no failure.

    Example: windrow check tests/transcripts/triggers.yaml
    """
    cases = {file: read_transcripts(file) for file in files}
    checked: list[CheckedCase] = []
    with session(master, conf) as spark:
        from windrow.run.check import check_case

        for file, of_file in cases.items():
            for case in of_file:
                messages = () if refused(case) else check_case(spark, case).messages
                checked.append(CheckedCase(str(file), case.name, refused(case), messages))
    for file in (file for file, of_file in cases.items() if not of_file):
        typer.echo(f"{file}: holds no case: none of its documents has a field of a transcript", err=as_json)
    if as_json:
        print_json(checked_mapping(checked))
    else:
        typer.echo(checked_text(checked))
    if any(case.messages for case in checked):
        raise typer.Exit(FAILED)


def refused(case: Case) -> str | None:
    """What this version does not build and the case asks for, or None."""
    return str(case.refusal) if isinstance(case.refusal, NotInThisVersion) else None
