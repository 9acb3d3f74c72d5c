"""A pipeline: sources and the stages that read them, in a lake; and its YAML file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import yaml

from windrow.spec.errors import SpecError
from windrow.spec.extensions import EXTENSIONS, load_extensions
from windrow.spec.fields.kinds import NAME, TEXT, list_of, nested
from windrow.spec.fields.reading import Spec, located
from windrow.spec.fields.typed import Converted, DurationLike, converted, plain, specification
from windrow.spec.notebooks import InNotebooks
from windrow.spec.pipelines.documents import load_yaml, read_document
from windrow.spec.pipelines.explained import CanBeExplained
from windrow.spec.pipelines.paths import check_paths
from windrow.spec.pipelines.refreshes import REFRESH
from windrow.spec.pipelines.retention import Retention
from windrow.spec.pipelines.schedules import Schedule
from windrow.spec.pipelines.settings import with_settings
from windrow.spec.pipelines.table import Table
from windrow.spec.pipelines.table_columns import QUALITY_TABLE
from windrow.spec.sources.source import Source
from windrow.spec.stages.chains import emits_retractions
from windrow.spec.stages.cogroups import by_input
from windrow.spec.stages.graph import check_graph, reads_of, with_reads
from windrow.spec.stages.inputs import input_path
from windrow.spec.stages.joins import check_shown
from windrow.spec.stages.reads import check_columns_read
from windrow.spec.stages.stage import Stage
from windrow.spec.stages.weights import check_accumulation, check_takes_back
from windrow.spec.times import SECOND


@specification
class Pipeline(Spec, InNotebooks, CanBeExplained):
    """A pipeline. `lake` is a path or URI that Spark can write; sources and stages share one namespace.

    `refresh` is how often, at most, a stream writes `current`, in microseconds; 0 is after every tick. `retention` says
    for how long maintenance keeps rows; None is for good. `extensions` are Python modules that define windows, triggers
    or aggregates of the user's own.

    Errors: a name that is taken twice, a lake that is a pattern or is not apart from what is read, a stage that reads
    something that is not there, an expression over a column that its source has not.
    """

    YAML_LATER = frozenset({"catalog"})
    YAML_HINTS = {"name": "pipeline", "path": "lake"}

    pipeline: str = plain(NAME)
    lake: str = plain(TEXT)
    sources: Converted[tuple[Source, ...], Iterable[Source]] = converted(list_of(nested(Source)))
    stages: Converted[tuple[Stage, ...], Iterable[Stage]] = converted(list_of(nested(Stage)))
    refresh: Converted[int, DurationLike] = converted(REFRESH, default=10 * SECOND)
    retention: Retention | None = plain(nested(Retention), default=None)
    schedule: Schedule | None = plain(nested(Schedule), default=None)
    extensions: Converted[tuple[str, ...], Iterable[str]] = converted(EXTENSIONS, default=())

    @classmethod
    def from_mapping(cls, mapping: Any) -> Pipeline:
        """The pipeline of a YAML mapping; its extensions are imported first, as stages may name what they add."""
        if isinstance(mapping, Mapping) and mapping.get("extensions") is not None:
            load_extensions(located("extensions", EXTENSIONS.read, mapping["extensions"]))
        return super().from_mapping(mapping)

    def validate(self) -> None:
        self._check_names()
        check_paths(self.lake, self.sources, [stage.name for stage in self.stages])
        object.__setattr__(self, "stages", tuple(self._connected(i, stage) for i, stage in enumerate(self.stages)))
        check_graph(self.stages, [source.name for source in self.sources])
        for index, stage in enumerate(self.stages):
            place, upstreams = f"stages[{index}]", self.upstreams_of(stage)
            for name, by_itself in by_input(stage).items():
                upstream = upstreams[name]
                if isinstance(upstream, Source):
                    located(input_path(name, place), partial(check_over, source=upstream), by_itself)
            takes_back = any(map(may_take_back, upstreams.values()))
            if takes_back:
                located(place, check_accumulation, stage)
            located(place, partial(check_shown, takes_back=takes_back), stage)
            if stage.quality is not None:
                located(f"{place}.quality", stage.quality.check, (*stage.keys, *stage.result_columns))

    def _check_names(self) -> None:
        taken = {QUALITY_TABLE}
        named: dict[str, tuple[Source | Stage, ...]] = {"sources": self.sources, "stages": self.stages}
        for place, items in named.items():
            for index, item in enumerate(items):
                if item.name.lower() in taken:
                    by = (
                        f"the table {QUALITY_TABLE}"
                        if item.name.lower() == QUALITY_TABLE
                        else "another source or stage"
                    )
                    raise SpecError(f"{place}[{index}].name", f"is taken by {by}", item.name)
                taken.add(item.name.lower())

    def _connected(self, index: int, stage: Stage) -> Stage:
        return with_reads(stage, lambda name: self._only_source(input_path(name, f"stages[{index}]")))

    def _only_source(self, place: str) -> str:
        if len(self.sources) > 1:
            names = ", ".join(source.name for source in self.sources)
            raise SpecError(f"{place}.from", "must be there: which of the sources", None, f"one of {names}")
        return self.sources[0].name

    def upstreams_of(self, stage: Stage) -> Mapping[str, Source | Stage]:
        """The sources and stages that a stage reads, by its inputs; the only one has the name `ONLY`."""
        known: dict[str, Source | Stage] = {one.name: one for one in self.sources}
        known.update({one.name: one for one in self.stages})
        return {name: known[read] for name, read in reads_of(stage).items()}

    def readers_of(self, stage: Stage) -> tuple[Stage, ...]:
        """The stages that read a stage."""
        return tuple(other for other in self.stages if stage.name in reads_of(other).values())

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

    def table(self, name: str) -> Table:
        """The tables of the stage or source of that name, or SpecError."""
        known: dict[str, Source | Stage] = {one.name: one for one in self.stages}
        known.update({one.name: one for one in self.sources})
        if name not in known:
            raise SpecError("table", "is no stage or source of the pipeline", name, f"one of {', '.join(known)}")
        return Table(self.lake, name, known[name])

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


def may_take_back(upstream: Source | Stage) -> bool:
    """Whether rows of weight -1 may come from a source or a stage."""
    return upstream.weight is not None if isinstance(upstream, Source) else emits_retractions(upstream)


def check_over(stage: Stage, source: Source) -> None:
    """Refuse a stage that does not go with the rows of a source. Errors: SpecError."""
    check_columns_read(stage, source.columns)
    if source.weight is not None:
        check_takes_back(stage)
