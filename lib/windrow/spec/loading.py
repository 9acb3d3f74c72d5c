"""A pipeline from its file, with what is set from outside: single fields, and where relative paths start from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from windrow.spec.errors import SpecError
from windrow.spec.pipelines import Pipeline
from windrow.spec.sources import Source, resolve_environment


def load(path: str | Path, settings: Mapping[str, str] | None = None, project: str | Path | None = None) -> Pipeline:
    """The pipeline of a YAML file. Errors: SpecError with file, place, rule and value.

    `settings` replace fields (`{"lake": "/data/lake"}`). `project` is the folder from which relative paths start, that
    of the file as well as those in it; without it they start where the process does.
    """
    if project is None:
        return Pipeline.from_yaml(path, settings)
    return starting_from(Pipeline.from_yaml(Path(project) / path, settings), project)


def starting_from(pipeline: Pipeline, folder: str | Path) -> Pipeline:
    """The same pipeline with its relative paths, of the lake and of files, under that folder. URIs stay as they are."""
    root = Path(folder).resolve()
    sources = tuple(_source(source, root) for source in pipeline.sources)
    return replace(pipeline, lake=_under(root, pipeline.lake), sources=sources)


def _source(source: Source, root: Path) -> Source:
    return replace(source, files=replace(source.files, path=_under(root, source.files.path)))


def _under(root: Path, text: str) -> str:
    """`${NAME}` is looked at to see whether the path is relative, and stays in the text."""
    try:
        path = resolve_environment(text)
    except SpecError:
        path = text
    return text if "://" in path or path.startswith(("/", "file:")) else f"{root}/{text}"
