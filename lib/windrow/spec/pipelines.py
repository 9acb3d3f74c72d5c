"""A pipeline: sources and the stages that read them, in a lake; and its YAML file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import yaml

from windrow.spec.documents import load_yaml, read_document
from windrow.spec.errors import NotInThisVersion, SpecError
from windrow.spec.extensions import EXTENSIONS, load_extensions
from windrow.spec.fields import Spec, located, of
from windrow.spec.kinds import NAME, TEXT, list_of, nested
from windrow.spec.schedules import Schedule
from windrow.spec.settings import with_settings
from windrow.spec.sources import Source
from windrow.spec.stages import Stage
from windrow.spec.triggers import nodes_of
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
        for index, stage in enumerate(self.stages):
            try:
                check_columns(stage, self.source_of(stage))
                if self.source_of(stage).weight is not None:
                    check_takes_back(stage)
            except SpecError as error:
                raise error.within(f"stages[{index}]") from error

    def _check_names(self) -> None:
        taken: set[str] = set()
        named: dict[str, tuple[Source | Stage, ...]] = {"sources": self.sources, "stages": self.stages}
        for place, items in named.items():
            for index, item in enumerate(items):
                if item.name.lower() in taken:
                    raise SpecError(f"{place}[{index}].name", "is taken by another source or stage", item.name)
                taken.add(item.name.lower())

    def _connected(self, index: int, stage: Stage) -> Stage:
        sources = [source.name for source in self.sources]
        if stage.from_ is None and len(sources) == 1:
            return replace(stage, from_=sources[0])
        if stage.from_ in [other.name for other in self.stages]:
            raise NotInThisVersion(
                f"stages[{index}].from", "a stage that reads a stage is not in this version", stage.from_
            )
        if stage.from_ not in sources:
            raise SpecError(f"stages[{index}].from", "is not a source", stage.from_, f"one of {', '.join(sources)}")
        return stage

    def source_of(self, stage: Stage) -> Source:
        """The source that a stage reads."""
        return next(source for source in self.sources if source.name == stage.from_)

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


def check_columns(stage: Stage, source: Source) -> None:
    """Refuse an expression of the stage over a column that neither the source nor `select` gives."""
    schema = source.columns
    known = {column.lower() for column in schema}
    for place, columns in _columns_read(stage):
        for column in columns:
            if column.lower() not in known:
                schema.require(column, place)
        kind, _, name = place.partition(".")
        if kind in ("select", "explode"):
            if name.lower() in known:
                raise SpecError(place, "is already a column", name)
            known.add(name.lower())


def _columns_read(stage: Stage) -> Iterator[tuple[str, tuple[str, ...]]]:
    for name, expression in stage.select.items():
        yield f"select.{name}", expression.columns
    for name, expression in stage.explode.items():
        yield f"explode.{name}", expression.columns
    if stage.element_time is not None:
        yield "element_time.of", stage.element_time.of.columns
    if stage.where is not None:
        yield "where", stage.where.columns
    for name, expression in stage.keys.items():
        yield f"keys.{name}", expression.columns
    for expression in stage.window.expressions.values():
        yield f"window.{stage.window.NAME}", expression.columns
    for name, aggregate in stage.aggregates.items():
        for expression in aggregate.expressions:
            yield f"aggregates.{name}", expression.columns
    for node in nodes_of(stage.trigger):
        for aggregate in node.aggregates.values():
            for expression in aggregate.expressions:
                yield f"trigger.{node.NAME}", expression.columns
