"""A pipeline in words, and what has changed since it last ran."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from windrow.spec.pipelines.fingerprint import is_of_source
from windrow.spec.pipelines.pipeline import Pipeline
from windrow.spec.times import format_duration
from windrow.view.plan.sources import source_section
from windrow.view.plan.stages import stage_section
from windrow.view.text.sections import Section


@dataclass(frozen=True)
class StageSince:
    """A stage of the file or of the lake, since it last ran. `generation` is None where it never has.

    `changed` are the fields that mean something else now, `gained` the columns that its source has got, `evolved` what
    else its schema does, in words; `in_file` is false for a stage that only the lake knows. `rebuilt_with` is a stage
    that it reads and that will be rebuilt.
    """

    stage: str
    generation: int | None
    changed: Sequence[str] = ()
    in_file: bool = True
    gained: Sequence[str] = ()
    evolved: Sequence[str] = ()
    rebuilt_with: str | None = None

    @property
    def outcome(self) -> str:
        """new, unchanged, changed, source changed, rebuilt (as a stage that it reads is), or gone."""
        if not self.in_file:
            return "gone"
        if self.generation is None:
            return "new"
        if any(map(is_of_source, self.changed)):
            return "source changed"
        if self.changed:
            return "changed"
        return "unchanged" if self.rebuilt_with is None else "rebuilt"


def headline(pipeline: Pipeline) -> str:
    """The pipeline and its lake."""
    return f"Pipeline {pipeline.pipeline}, in the lake {pipeline.lake}"


def plan_sections(pipeline: Pipeline) -> list[Section]:
    """What each source and stage will do."""
    sources = [source_section(source, pipeline.lake) for source in pipeline.sources]
    stages = [stage_section(stage, pipeline.lake, pipeline.upstreams_of(stage)) for stage in pipeline.stages]
    return [*sources, *stages, *_kept(pipeline)]


def _kept(pipeline: Pipeline) -> list[Section]:
    """For how long maintenance keeps rows, where that is not for good."""
    kept = pipeline.retention
    if kept is None:
        return []
    times = {"raw": kept.raw, "panes": kept.panes, "dead letters": kept.dead_letters}
    lines = [(name, [_for(time)]) for name, time in times.items()]
    return [Section("Retention, by windrow maintain", lines)]


def _for(time: int | None) -> str:
    return "for good" if time is None else f"{format_duration(time)}, and as long as a window needs them"


def since_section(since: Sequence[StageSince], note: str | None) -> Section:
    """What has changed since the last run. `note` says why that could not be seen, if so."""
    if note is not None:
        return Section("Since the last run", [("unknown", [note])])
    if all(item.generation is None for item in since):
        return Section("Since the last run", [("none", ["this pipeline has not run in this lake"])])
    return Section("Since the last run", [(item.stage, _since(item)) for item in since])


def plan_mapping(pipeline: Pipeline, since: Sequence[StageSince], note: str | None) -> dict[str, Any]:
    """The same for machines: the pipeline as it was read, what it will do, and what has changed."""
    changed = [
        {
            "stage": item.stage,
            "outcome": item.outcome,
            "generation": item.generation,
            "changed": list(item.changed),
            "gained": list(item.gained),
            "evolved": list(item.evolved),
        }
        for item in since
    ]
    return {
        "pipeline": pipeline.to_mapping(),
        "plan": {section.title: section.to_mapping() for section in plan_sections(pipeline)},
        "since": {"note": note, "stages": changed},
    }


def _since(item: StageSince) -> list[str]:
    changed = [f"  {line}" for line in item.changed]
    match item.outcome:
        case "gone":
            return ["is not in the file any more; its tables stay as they are"]
        case "new":
            return ["new: it will read the source from the first row"]
        case "unchanged":
            return [f"means the same; generation {item.generation} goes on", *_gained(item)]
        case "rebuilt":
            return [
                f"means the same; it is rebuilt with {item.rebuilt_with}, as generation {(item.generation or 0) + 1}"
            ]
        case "changed":
            ways = "will be refused; ways on: another lake (--set lake=...), or --from-start, which makes"
            return [f"means something else, and {ways} generation {(item.generation or 0) + 1} from raw:", *changed]
        case _:
            return ["its rows have landed under another fingerprint, and it will be refused; the way on is another lake"
                    " (--set lake=...):", *changed]  # fmt: skip


def _gained(item: StageSince) -> list[str]:
    gained = [f"  its source gains {column}: null in the rows that have landed before" for column in item.gained]
    return [*gained, *(f"  its source {line}" for line in item.evolved)]
