"""A pipeline from its file, with what is set from outside: single fields, and where relative paths start from."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from windrow.spec.errors import SpecError
from windrow.spec.extensions import find_extensions_in
from windrow.spec.fields.reading import located
from windrow.spec.pipelines.masks import masks_of
from windrow.spec.pipelines.pipeline import Pipeline
from windrow.spec.pipelines.schedules import Schedule
from windrow.spec.quality.quality import Quality
from windrow.spec.quality.suites import Suite
from windrow.spec.sources.source import Source, resolve_environment
from windrow.spec.stages.stage import Stage


def load(path: str | Path, settings: Mapping[str, str] | None = None, project: str | Path | None = None) -> Pipeline:
    """The pipeline of a YAML file. Errors: SpecError with file, place, rule and value.

    `settings` replace fields (`{"lake": "/data/lake"}`). `project` is the folder from which relative paths start, that
    of the file as well as those in it; without it they start where the process does.
    """
    find_extensions_in(project if project is not None else ".")
    if project is None:
        pipeline = Pipeline.from_yaml(path, settings)
    else:
        pipeline = starting_from(Pipeline.from_yaml(Path(project) / path, settings), project)
    suites_of(pipeline)
    return pipeline


def starting_from(pipeline: Pipeline, folder: str | Path) -> Pipeline:
    """The same pipeline with its relative paths under that folder: lake, files, suites, Python files of its jobs.

    URIs stay as they are.
    """
    root = Path(folder).resolve()
    sources = tuple(_source(source, root) for source in pipeline.sources)
    stages = tuple(replace(stage, quality=_quality(stage, root)) for stage in pipeline.stages)
    lake, schedule = _under(root, pipeline.lake), _schedule(pipeline.schedule, root)
    return replace(pipeline, lake=lake, sources=sources, stages=stages, schedule=schedule)


def suites_of(pipeline: Pipeline) -> dict[str, Suite]:
    """The quality suites of a pipeline's sources and stages, by their names. Errors: SpecError with file and place."""
    suites: dict[str, Suite] = {}
    owners: list[Source | Stage] = [*pipeline.sources, *pipeline.stages]
    for owner in owners:
        if owner.quality is not None:
            path = resolve_environment(owner.quality.suite)
            suite = Suite.from_yaml(path)
            located(f"{path}:", _checked_against(owner), suite)
            suites[owner.name] = replace(suite, mask=masks_of(pipeline, owner))
    return suites


def suite_path(pipeline: Pipeline, name: str) -> str:
    """The path of the suite of a source or stage as its file says it, with `${NAME}`; nothing without one."""
    owners: list[Source | Stage] = [*pipeline.sources, *pipeline.stages]
    return next((one.quality.suite for one in owners if one.name == name and one.quality is not None), "")


def _checked_against(owner: Source | Stage) -> Callable[[Suite], None]:
    if isinstance(owner, Source):
        return lambda suite: suite.check_source(owner.columns)
    columns, is_join = (*owner.keys, "window_start", "window_end", *owner.result_columns), owner.join is not None
    return lambda suite: suite.check_stage(columns, is_join)


def _source(source: Source, root: Path) -> Source:
    connector = source.connector.located(lambda path: _under(root, path))
    changed: dict[str, Any] = {connector.NAME: connector, "quality": _quality(source, root)}
    return replace(source, **changed)


def _schedule(schedule: Schedule | None, root: Path) -> Schedule | None:
    if schedule is None:
        return None
    spark = schedule.spark
    return replace(schedule, spark=replace(spark, py_files=[_under(root, path) for path in spark.py_files]))


def _quality(owner: Source | Stage, root: Path) -> Quality | None:
    return None if owner.quality is None else owner.quality.at(_under(root, owner.quality.suite))


def _under(root: Path, text: str) -> str:
    """`${NAME}` is looked at to see whether the path is relative, and stays in the text."""
    try:
        path = resolve_environment(text)
    except SpecError:
        path = text
    return text if "://" in path or path.startswith(("/", "file:")) else f"{root}/{text}"
