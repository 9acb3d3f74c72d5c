"""`python -m windrow.airflow`: what whoever deploys DAGs does with a folder of pipeline files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from windrow.airflow.pools import pools_of

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


@app.callback()
def commands() -> None:
    """Set up Airflow for a folder of pipeline files."""


@app.command()
def pools(
    folder: Annotated[Path, typer.Argument(help="The folder of the pipeline files.", show_default=False)],
    output: Annotated[Path, typer.Argument(metavar="FILE", help="Where the pools are written.", show_default=False)],
    project: Annotated[Path | None, typer.Option(help="Where relative paths start.", show_default="here")] = None,
) -> None:
    """Write the pools of all lakes into a file, for `airflow pools import FILE`."""
    output.write_text(json.dumps(pools_of(folder, project or Path.cwd()), indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    app()
