"""The options that all commands have which open a pipeline, in one place, and what a command makes of them."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cached_property
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from windrow.cli.options import Conf, Master, gate_told, pairs_of
from windrow.cli.session import looked, session
from windrow.spec.pipelines.loading import load
from windrow.spec.pipelines.pipeline import Pipeline

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Seen = TypeVar("Seen")

File = Annotated[Path, typer.Argument(metavar="FILE", help="The pipeline file.", show_default=False)]
Set = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", help="Replace a field of the file, for instance lake=/data/lake."),
]
Project = Annotated[
    Path | None,
    typer.Option("--project", metavar="DIR", help="Where relative paths start from.", show_default="this folder"),
]

_FILE = {"file": File}
_PIPELINE = {"settings": Set, "project": Project}
_SPARK = {"master": Master, "conf": Conf}
_LAST = "as_json"


@dataclass(frozen=True)
class Common:
    """What a command was told of its pipeline, and of Spark."""

    file: Path
    settings: Sequence[str] | None = None
    project: Path | None = None
    master: str | None = None
    conf: Sequence[str] | None = None

    @cached_property
    def pipeline(self) -> Pipeline:
        """The pipeline of the command. Errors: SpecError."""
        return load(self.file, pairs_of("--set", self.settings), self.project)

    @property
    def typed(self) -> str:
        """How another command names the same pipeline."""
        given = [f"--set {shlex.quote(text)}" for text in self.settings or ()]
        given += [] if self.project is None else [f"--project {shlex.quote(str(self.project))}"]
        return " ".join([shlex.quote(str(self.file)), *given])

    def session(self, judges: bool = False) -> AbstractContextManager[SparkSession]:
        """A session that ends with the command; `judges`: it will ask the suites of the pipeline."""
        return session(self.master, self.conf, self.pipeline, judges)

    def looked(self, look: Callable[[SparkSession | None], Seen]) -> Seen:
        """What a look at the lake finds, without Spark where `deltalake` can read it."""
        return looked(look, self.master, self.conf, self.pipeline)

    def gate_told(self, report: str | None = None) -> AbstractContextManager[None]:
        """A gate that stops within names the pipeline as the command does, and the page. Raises GateFailed."""
        return gate_told(self.typed, report)


def command(function: Callable[..., None]) -> Callable[..., None]:
    """A command over a pipeline, as Typer sees it.

    In place of its parameter `common` it has FILE, and behind its own options those of all commands; `--json` is last.
    """
    return _command(function, {**_PIPELINE, **_SPARK})


def command_without_spark(function: Callable[..., None]) -> Callable[..., None]:
    """The same without the options of Spark."""
    return _command(function, _PIPELINE)


def _command(function: Callable[..., None], options: dict[str, Any]) -> Callable[..., None]:
    own = signature(function, eval_str=True).parameters
    names = {**_FILE, **options}

    def called(**given: Any) -> None:
        common = Common(**{name: given.pop(name) for name in names})
        function(common=common, **given)

    file = Parameter("file", Parameter.POSITIONAL_OR_KEYWORD, annotation=File)
    before = [file if name == "common" else one for name, one in own.items() if name != _LAST]
    common = [Parameter(name, Parameter.KEYWORD_ONLY, default=None, annotation=one) for name, one in options.items()]
    last = [one.replace(kind=Parameter.KEYWORD_ONLY) for name, one in own.items() if name == _LAST]
    parameters = [*before, *common, *last]
    called.__name__, called.__doc__, called.__module__ = function.__name__, function.__doc__, function.__module__
    called.__annotations__ = {one.name: one.annotation for one in parameters}
    called.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    return called
