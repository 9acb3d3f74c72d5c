"""A pipeline: sources and the stages that read them, in a lake; and its YAML file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import yaml

from windrow.spec.documents import load_yaml, read_document
from windrow.spec.errors import NotInThisVersion, SpecError
from windrow.spec.extensions import EXTENSIONS, load_extensions
from windrow.spec.fields import Spec, located, of
from windrow.spec.graph import check_graph
from windrow.spec.kinds import NAME, TEXT, list_of, nested
from windrow.spec.reads import check_columns_read
from windrow.spec.schedules import Schedule
from windrow.spec.settings import with_settings
from windrow.spec.sources import Source
from windrow.spec.stages import Stage
from windrow.spec.weights import check_takes_back


@dataclass(frozen=True)
class Pipeline(Spec):
    """A pipeline. `lake` is a path or URI that Spark can write; sources and stages share one namespace.

    `extensions` are Python modules that define windows, triggers or aggregates of the user's own.

    Errors: a name that is taken twice, a stage that reads something that is not there, an expression over a column
    that its source has not.
    """

    YAML_LATER = frozenset({"catalog"})
    YAML_HINTS = {"name": "pipeline", "path": "lake"}

    pipeline: str = field(metadata=of(NAME))
    lake: str = field(metadata=of(TEXT))
    sources: tuple[Source, ...] = field(metadata=of(list_of(nested(Source))))
    stages: tuple[Stage, ...] = field(metadata=of(list_of(nested(Stage))))
    schedule: Schedule | None = field(default=None, metadata=of(nested(Schedule)))
    extensions: tuple[str, ...] = field(default=(), metadata=of(EXTENSIONS))

    @classmethod
    def from_mapping(cls, mapping: Any) -> Pipeline:
        """The pipeline of a YAML mapping; its extensions are imported first, as stages may name what they add."""
        if isinstance(mapping, Mapping) and mapping.get("extensions") is not None:
            load_extensions(located("extensions", EXTENSIONS.read, mapping["extensions"]))
        return super().from_mapping(mapping)

    def validate(self) -> None:
        self._check_names()
        object.__setattr__(self, "stages", tuple(self._connected(i, stage) for i, stage in enumerate(self.stages)))
        self._check_one_input_each()
        check_graph(self.stages, [source.name for source in self.sources])
        for index, stage in enumerate(self.stages):
            upstream = self.upstream_of(stage)
            if isinstance(upstream, Source):
                located(f"stages[{index}]", partial(check_over, source=upstream), stage)

    def _check_one_input_each(self) -> None:
        for index, stage in enumerate(self.stages):
            if stage.inputs:
                raise NotInThisVersion(f"stages[{index}].inputs", "of a pipeline is not in this version")

    def _check_names(self) -> None:
        taken: set[str] = set()
        named: dict[str, tuple[Source | Stage, ...]] = {"sources": self.sources, "stages": self.stages}
        for place, items in named.items():
            for index, item in enumerate(items):
                if item.name.lower() in taken:
                    raise SpecError(f"{place}[{index}].name", "is taken by another source or stage", item.name)
                taken.add(item.name.lower())

    def _connected(self, index: int, stage: Stage) -> Stage:
        if stage.from_ is not None or stage.inputs:
            return stage
        if len(self.sources) > 1:
            names = ", ".join(source.name for source in self.sources)
            raise SpecError(f"stages[{index}].from", "must be there: which of the sources", None, f"one of {names}")
        return replace(stage, from_=self.sources[0].name)

    def upstream_of(self, stage: Stage) -> Source | Stage:
        """The source or the stage that a stage reads."""
        known: tuple[Source | Stage, ...] = (*self.sources, *self.stages)
        return next(one for one in known if one.name == stage.from_)

    def sources_of(self, stage: Stage) -> tuple[Source, ...]:
        """The sources whose rows come to a stage, by itself or through the stages that it reads."""
        upstream = self.upstream_of(stage)
        return (upstream,) if isinstance(upstream, Source) else self.sources_of(upstream)

    def readers_of(self, stage: Stage) -> tuple[Stage, ...]:
        """The stages that read a stage."""
        return tuple(other for other in self.stages if other.from_ == stage.name)

    def source(self, name: str) -> Source:
        """The source of that name, or SpecError."""
        for source in self.sources:
            if source.name == name:
                return source
        raise SpecError("source", "is not in the pipeline", name, f"one of {', '.join(s.name for s in self.sources)}")

    def stage(self, name: str) -> Stage:
        """The stage of that name, or SpecError."""
        for stage in self.stages:
            if stage.name == name:
                return stage
        raise SpecError("stage", "is not in the pipeline", name, f"one of {', '.join(s.name for s in self.stages)}")

    def with_lake(self, lake: str) -> Pipeline:
        return replace(self, lake=lake)

    @classmethod
    def from_yaml(cls, path: str | Path, settings: Mapping[str, str] | None = None) -> Pipeline:
        """The pipeline of a YAML file. Strict; every error names file, place, rule and value.

        `settings` replace fields before the file is checked: `{"stages.hourly.allowed_lateness": "2h"}`.
        """

        def read(text: str) -> Pipeline:
            return cls.from_mapping(with_settings(load_yaml(text), settings or {}, load_yaml))

        return read_document(path, read)

    def to_yaml(self) -> str:
        """The YAML text that `from_yaml` reads back to an equal pipeline."""
        return yaml.safe_dump(self.to_mapping(), sort_keys=False, allow_unicode=True)


def check_over(stage: Stage, source: Source) -> None:
    """Refuse a stage that does not go with the rows of a source. Errors: SpecError."""
    check_columns_read(stage, source.columns)
    if source.weight is not None:
        check_takes_back(stage)
