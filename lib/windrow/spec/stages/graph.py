"""Which stage reads which, and whether all of them go together.

Rules: docs/semantics.md#stages-that-read-stages, docs/semantics.md#several-inputs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial

from windrow.spec.errors import SpecError
from windrow.spec.fields.reading import Named, located
from windrow.spec.stages.cogroups import check_inputs_read
from windrow.spec.stages.inputs import ONLY, input_path
from windrow.spec.stages.stage import Stage
from windrow.spec.windows.base import WindowFunction

Read = Mapping[str, Stage | None]
"""What a stage reads by its inputs: a stage, or None where that is a source."""


def read_by(stages: Sequence[Stage], sources: Iterable[str] = ()) -> Mapping[str, Read]:
    """What each stage reads, by its name.

    Without `from` the first stage reads the source, every other one the stage before it; an input without `from` reads
    the source. Errors: SpecError for a name that is there twice, and for a `from` that stands neither among the sources
    nor before the stage.
    """
    before: dict[str, Stage] = {}
    read: dict[str, Read] = {}
    names = set(sources)
    for index, stage in enumerate(stages):
        place = f"stages[{index}]"
        if stage.name in before or stage.name in names:
            raise SpecError(f"{place}.name", "is there twice", stage.name)
        unnamed = stages[index - 1] if index and not stage.inputs else None
        read[stage.name] = {
            name: unnamed if from_ is None else _named(input_path(name, place), from_, before, names)
            for name, from_ in _written(stage).items()
        }
        before[stage.name] = stage
    return read


def _named(place: str, name: str, stages: Mapping[str, Stage], sources: set[str]) -> Stage | None:
    if name in stages or name in sources:
        return stages.get(name)
    known = [*sources, *stages]
    hint = f"one of {', '.join(known)}" if known else "the first stage reads the source"
    raise SpecError(f"{place}.from", "is neither a source nor a stage before it", name, hint)


def _written(stage: Stage) -> Mapping[str, str | None]:
    """The `from` of each input."""
    return {name: one.from_ for name, one in stage.inputs.items()} or {ONLY: stage.from_}


def reads_of(stage: Stage) -> Mapping[str, str]:
    """What a stage of a pipeline reads, by its inputs: the names of sources and stages, all of which it says."""
    return {name: from_ or "" for name, from_ in _written(stage).items()}


def with_reads(stage: Stage, unnamed: Callable[[str], str]) -> Stage:
    """The stage with a `from` in each input: what it says, or the name that is given for the input."""
    reads = {name: from_ or unnamed(name) for name, from_ in _written(stage).items()}
    if ONLY in reads:
        return replace(stage, from_=reads[ONLY])
    return replace(stage, inputs=Named({name: replace(one, from_=reads[name]) for name, one in stage.inputs.items()}))


def check_graph(stages: Sequence[Stage], sources: Iterable[str] = (), places: Sequence[str] | None = None) -> None:
    """Refuse stages that do not go with what they read. Errors: SpecError with the stage's place."""
    read = read_by(stages, sources)
    windows: dict[str, WindowFunction] = {}
    for index, stage in enumerate(stages):
        place = f"stages[{index}]" if places is None else places[index]
        upstreams = {name: one for name, one in read[stage.name].items() if one is not None}
        made = {name: windows[one.name] for name, one in upstreams.items()}
        located(place, partial(check_inputs_read, upstreams=upstreams, windows=made), stage)
        inherits = stage.window.FOLLOWS_PANES
        windows[stage.name] = next(iter(made.values())) if inherits else stage.window
