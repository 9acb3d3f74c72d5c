"""The assets of a pipeline: the table `current` of each stage.

An asset has an event when a task has changed something, and none when it has not. So the task has an alias as its
outlet, to which it adds the assets that have changed. An asset itself as an outlet would have an event in any case,
and the task could not run where another DAG gives its name to something else.
"""

from __future__ import annotations

from airflow.sdk import Asset, AssetAlias

from windrow.spec.pipelines.pipeline import Pipeline
from windrow.store.reading.arrow import folder_of


def assets_of(pipeline: Pipeline) -> dict[str, Asset]:
    """By stage, the asset `<pipeline>/<stage>`, whose URI is that of the table.

    Where the lake names variables of the environment the URI is the name: their values are written nowhere.
    """
    return {stage.name: _asset(pipeline, stage.name) for stage in pipeline.stages}


def alias_of(pipeline: Pipeline) -> AssetAlias:
    """The alias of all of these assets; it has the name of the pipeline."""
    return AssetAlias(pipeline.pipeline)


def _asset(pipeline: Pipeline, stage: str) -> Asset:
    name = f"{pipeline.pipeline}/{stage}"
    return Asset(name=name, uri=name if "${" in pipeline.lake else _uri(f"{pipeline.lake}/{stage}/current"))


def _uri(path: str) -> str:
    folder = folder_of(path)
    return path if folder is None else folder.as_uri()
