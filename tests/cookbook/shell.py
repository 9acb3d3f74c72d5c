"""The commands of a recipe, typed one after the other: on the model, or as they are."""

from __future__ import annotations

import io
import runpy
import shlex
import shutil
from collections.abc import Callable, Mapping, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import typer.main

from tests.cli.command import windrow
from tests.cookbook.explained import explain
from tests.cookbook.model_lake import ModelLake
from tests.cookbook.status import status_text
from windrow.cli import app
from windrow.cli.commands.show import keys_of
from windrow.cli.common import Common
from windrow.cli.options import time_of

_COMMANDS = typer.main.get_command(app).commands  # type: ignore[attr-defined]
LEFT_OUT = "..."
"""A line that stands for any lines of what a command prints."""


def agrees(shown: Sequence[str], printed: Sequence[str]) -> bool:
    """Whether the page shows what was printed, but for the lines that it leaves out."""
    if not shown:
        return not printed
    if shown[0] == LEFT_OUT:
        return any(agrees(shown[1:], printed[skipped:]) for skipped in range(len(printed) + 1))
    return bool(printed) and shown[0].rstrip() == printed[0].rstrip() and agrees(shown[1:], printed[1:])


class RealShell:
    """Runs commands in this process, and gives what they print."""

    def type(self, words: str) -> str:
        """Run a command in the current folder. Raises AssertionError where it fails."""
        program, *arguments = shlex.split(words)
        if program in _PROGRAMS:
            return _PROGRAMS[program](*arguments)
        assert program == "windrow", f"pages type windrow and {', '.join(_PROGRAMS)}, not {program}"
        done = windrow(*arguments)
        assert done.code == 0, f"{words}: exit code {done.code}\n{done.out}{done.err}"
        return done.out


def _copy(source: str, target: str) -> str:
    shutil.copy(source, target)
    return ""


def _head(lines: str, path: str) -> str:
    return "".join(Path(path).read_text().splitlines(keepends=True)[: -int(lines)])


def _python(path: str) -> str:
    """What a program prints that is run in this process."""
    out = io.StringIO()
    with redirect_stdout(out):
        runpy.run_path(path, run_name="__main__")
    return out.getvalue()


_PROGRAMS: Mapping[str, Callable[..., str]] = {"cp": _copy, "head": _head, "python": _python}


@dataclass
class ModelShell:
    """Knows what the commands would print that run stages and show their windows."""

    lakes: dict[str, ModelLake] = field(default_factory=dict)

    def type(self, words: str) -> str | None:
        """What a command prints; None where the model does not know it. Raises what a wrong option raises."""
        program, *arguments = shlex.split(words)
        if program in ("cp", "head"):
            return _PROGRAMS[program](*arguments)
        if program == "python":
            return None
        name, *rest = arguments
        if name in ("init", "plan"):
            return RealShell().type(words)
        return self._told(name, _COMMANDS[name].make_context(name, rest).params)

    def _told(self, name: str, given: dict[str, Any]) -> str | None:
        if name not in ("run", "show", "status", "explain", "quarantine", "restate", "backfill"):
            return None
        lake = self._lake(given)
        match name:
            case "run":
                lake.run(given["drain"])
            case "show":
                keys = keys_of(lake.pipeline.stage(given["stage"]), given["key"])
                return lake.show(given["stage"], given["panes"], keys, time_of("--at", given["at"]), given["limit"])
            case "explain":
                keys = keys_of(lake.pipeline.stage(given["stage"]), given["key"])
                return explain(lake, given["stage"], keys, given["at"])
            case "status":
                return status_text(lake)
            case "quarantine":
                lake.quarantine(given["landed"])
            case "restate":
                lake.restate()
            case "backfill":
                span = (time_of("--from", given["from_"]), time_of("--to", given["to"]))
                lake.backfill(*(one or 0 for one in span))
        return None

    def _lake(self, given: dict[str, Any]) -> ModelLake:
        pipeline = Common(given["file"], given["settings"], given["project"]).pipeline
        lake = self.lakes.setdefault(pipeline.lake, ModelLake(pipeline))
        assert lake.pipeline == pipeline, "the model knows no new generations"
        return lake
