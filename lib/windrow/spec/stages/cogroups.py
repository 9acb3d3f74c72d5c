"""The inputs of a stage: each as a stage of its own, and what it may read.

Rule: docs/semantics.md#several-inputs.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from windrow.spec.fields.reading import located
from windrow.spec.stages.chains import check_elements, check_firings, check_reads_a_source
from windrow.spec.stages.inputs import ONLY, Input, input_path
from windrow.spec.stages.stage import Stage
from windrow.spec.triggers.all import Never
from windrow.spec.windows.base import WindowFunction


def alone(stage: Stage, one: Input) -> Stage:
    """A stage that reads this input of a stage alone, with the windows and the lateness that all of them share.

    It never fires: when, is for the stage as a whole.
    """
    return Stage(
        name=stage.name,
        from_=one.from_,
        select=one.select,
        where=one.where,
        keys=one.keys,
        window=stage.window,
        trigger=Never(),
        allowed_lateness=stage.allowed_lateness,
        event_time=stage.event_time,
        aggregates=one.gathered,
    )


def by_input(stage: Stage) -> Mapping[str, Stage]:
    """Each input of a stage as a stage that reads it alone; the only one is the stage itself."""
    return {name: alone(stage, one) for name, one in stage.inputs.items()} or {ONLY: stage}


def check_inputs_read(
    stage: Stage, upstreams: Mapping[str, Stage], windows: Mapping[str, WindowFunction] | None = None
) -> None:
    """Refuse an input that does not go with what it reads, as if it were a stage of its own. Errors: SpecError.

    `upstreams` are the stages that are read, and `windows` what made the windows of their panes, by the names of the
    inputs.
    """
    for name, by_itself in by_input(stage).items():
        upstream = upstreams.get(name)
        if upstream is None:
            located(input_path(name), check_reads_a_source, by_itself)
        else:
            made_by = (windows or {}).get(name)
            located(input_path(name), partial(check_elements, upstream=upstream, windows=made_by), by_itself)
            check_firings(stage, upstream, made_by)
