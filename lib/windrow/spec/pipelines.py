"""A pipeline: sources and the stages that read them, in a lake; and its YAML file."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import yaml

from windrow.spec.errors import NotInThisVersion, SpecError
from windrow.spec.fields import NAME, TEXT, Spec, list_of, nested, of
from windrow.spec.settings import with_settings
from windrow.spec.sources import Source
from windrow.spec.stages import Stage


@dataclass(frozen=True)
class Pipeline(Spec):
    """A pipeline. `lake` is a path or URI that Spark can write; sources and stages share one namespace.

    Errors: a name that is taken twice, a stage that reads something that is not there, an expression over a column
    that its source has not.
    """

    YAML_LATER = frozenset({"catalog", "schedule", "extensions"})
    YAML_HINTS = {"name": "pipeline", "path": "lake"}

    pipeline: str = field(metadata=of(NAME))
    lake: str = field(metadata=of(TEXT))
    sources: tuple[Source, ...] = field(metadata=of(list_of(nested(Source))))
    stages: tuple[Stage, ...] = field(metadata=of(list_of(nested(Stage))))

    def validate(self) -> None:
        self._check_names()
        object.__setattr__(self, "stages", tuple(self._connected(i, stage) for i, stage in enumerate(self.stages)))
        for index, stage in enumerate(self.stages):
            try:
                check_columns(stage, self.source_of(stage))
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
        try:
            mapping = load_yaml(Path(path).read_text(encoding="utf-8"))
            return cls.from_mapping(with_settings(mapping, settings or {}, load_yaml))
        except OSError as error:
            raise SpecError(f"{path}:", "cannot be read", error.strerror) from error
        except UnicodeDecodeError as error:
            raise SpecError(f"{path}:", "must be a text in UTF-8") from error
        except SpecError as error:
            raise error.within(f"{path}:") from error

    def to_yaml(self) -> str:
        """The YAML text that `from_yaml` reads back to an equal pipeline."""
        return yaml.safe_dump(self.to_mapping(), sort_keys=False, allow_unicode=True)


def check_columns(stage: Stage, source: Source) -> None:
    """Refuse an expression of the stage over a column that neither the source nor `select` gives."""
    schema = source.schema
    known = {column.lower() for column in schema}
    for place, columns in _columns_read(stage):
        for column in columns:
            if column.lower() not in known:
                schema.require(column, place)
        if place.startswith("select."):
            name = place.removeprefix("select.")
            if name.lower() in known:
                raise SpecError(place, "is already a column", name)
            known.add(name.lower())


def _columns_read(stage: Stage) -> Iterator[tuple[str, tuple[str, ...]]]:
    for name, expression in stage.select.items():
        yield f"select.{name}", expression.columns
    if stage.where is not None:
        yield "where", stage.where.columns
    for name, expression in stage.keys.items():
        yield f"keys.{name}", expression.columns
    for name, aggregate in stage.aggregates.items():
        for expression in aggregate.expressions:
            yield f"aggregates.{name}", expression.columns


class _StrictLoader(yaml.SafeLoader):
    """YAML without its guesses: `12:00`, `no` and `010` are texts, and a field that stands twice is an error."""


# Each pattern takes less than PyYAML's own, so that what PyYAML writes without quotes is read as the text it was.
_PLAIN_VALUES = {
    "bool": (r"true|false", "tf"),
    "int": (r"[-+]?(0|[1-9][0-9]*)", "-+0123456789"),
    "float": (
        r"[-+]?[0-9]+\.[0-9]*([eE][-+][0-9]+)?|\.[0-9]+([eE][-+][0-9]+)?|[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)",
        "-+.0123456789",
    ),
}
_GUESSED = {f"tag:yaml.org,2002:{name}" for name in (*_PLAIN_VALUES, "timestamp")}
_StrictLoader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag not in _GUESSED]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
for _name, (_pattern, _first) in _PLAIN_VALUES.items():
    _StrictLoader.add_implicit_resolver(f"tag:yaml.org,2002:{_name}", re.compile(f"^({_pattern})$"), list(_first))


def _strict_mapping(loader: _StrictLoader, node: yaml.MappingNode) -> dict[Any, Any]:
    seen: set[Any] = set()
    for key_node, _ in node.value:
        if key_node.tag == "tag:yaml.org,2002:merge":
            continue
        key = loader.construct_object(key_node, deep=True)
        line = key_node.start_mark.line + 1
        if not isinstance(key, str | int | float):
            raise SpecError("", f"must have a name in front of the colon (line {line})", key)
        if key in seen:
            raise SpecError("", f"stands twice (line {line})", key)
        seen.add(key)
    return loader.construct_mapping(node, deep=True)


_StrictLoader.add_constructor(yaml.resolver.BaseResolver.DEFAULT_MAPPING_TAG, _strict_mapping)


def load_yaml(text: str) -> Any:
    """The one document of a YAML text, or SpecError with the line."""
    documents = load_yaml_documents(text)
    if len(documents) != 1:
        raise SpecError("", "must hold one document", len(documents))
    return documents[0]


def load_yaml_documents(text: str) -> list[Any]:
    """All documents of a YAML text, or SpecError with the line."""
    try:
        return list(yaml.load_all(text, Loader=_StrictLoader))
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else "?"
        raise SpecError(f"line {line}", "is not YAML", None, error.problem) from error
    except yaml.YAMLError as error:
        raise SpecError("", "is not YAML", str(error)) from error
