"""What a stage does, in words.

Rules: docs/semantics.md#windows, docs/semantics.md#triggers, docs/semantics.md#panes,
docs/semantics.md#accumulation-and-changes, docs/semantics.md#lateness-expiry-and-closing, docs/semantics.md#aggregates.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from windrow.spec.expressions.plain import plain
from windrow.spec.pipelines.pipeline import may_take_back
from windrow.spec.sources.source import Source
from windrow.spec.stages.cogroups import alone
from windrow.spec.stages.inputs import ONLY, JoinKind
from windrow.spec.stages.stage import Accumulation, Emission, Stage
from windrow.spec.triggers.closing import can_close
from windrow.view.freshness import allowed_text
from windrow.view.plan.tables import WRITES, tables_of_stage, writes
from windrow.view.text.sections import Section
from windrow.view.text.times import length, many

_ACCUMULATIONS: Mapping[Accumulation, str] = {
    Accumulation.DISCARDING: "a pane holds what is new since the window's last one (discarding); current has all",
    Accumulation.ACCUMULATING: "a pane holds all of the window so far and replaces the last one (accumulating)",
    Accumulation.RETRACTING: "a pane holds all of the window so far; the last one is retracted first (retracting)",
    Accumulation.CLEAR_BY_DEFAULT: "a pane holds what is new since the last one that cleared; panes clear unless the"
    " trigger that fires says otherwise (clear_by_default); current has all that stand",
    Accumulation.ACCUMULATE_BY_DEFAULT: "a pane holds what is new since the last one that cleared, and replaces what it"
    " holds; panes clear only where the trigger that fires says so (accumulate_by_default); current has all that stand",
}


def stage_section(stage: Stage, lake: str | None, upstreams: Mapping[str, Source | Stage]) -> Section:
    """What is read and left out, the windows, when they fire, what is late, what is kept, computed and written.

    `upstreams` are what the inputs of the stage read; the only one has the name `ONLY`. A stage by itself has none, and
    no lake.
    """
    takes_back = any(map(may_take_back, upstreams.values()))
    return Section(
        f"Stage {stage.name}",
        [
            *(_of_inputs(stage, upstreams) if stage.inputs else _of_elements(stage, upstreams.get(ONLY))),
            ("windows", [stage.window.words()]),
            ("tasks", _tasks(stage)),
            ("fires", _fires(stage)),
            ("panes", [*_panes(stage), *([_TAKES_BACK] if takes_back else [])]),
            ("expires", [_expires(stage)]),
            ("late", _late(stage)),
            ("freshness", _freshness(stage)),
            ("computes", [f"{name} = {words}" for name, words in results_in_words(stage).items()]),
            *([] if stage.having is None else [("shows", [f"panes for which {plain(stage.having)}"])]),
            (WRITES, writes(stage.name, lake, tables_of_stage(stage, results_in_words(stage)))),
        ],
    )


_TAKES_BACK = "a window whose rows were all taken back retracts its last pane when it fires"
_IN_BAND = "the watermark comes with the panes: it is how far the stage that is read has come with what it shows"


_LEAST = "the watermark is the least of those of the inputs"
Facts = list[tuple[str, list[str]]]


def _of_elements(stage: Stage, upstream: Source | Stage | None) -> Facts:
    """What a stage reads, or one input of it, and what it makes of that before it groups."""
    return [
        ("reads", [_reads(stage, upstream), *([_IN_BAND] if isinstance(upstream, Stage) else [])]),
        ("select", [f"{name} = {plain(expression)}" for name, expression in stage.select.items()]),
        ("explode", [f"each item of {plain(e)} is an element, {name}" for name, e in stage.explode.items()]),
        ("event time", _element_time(stage)),
        ("where", _where(stage)),
        ("keys", [_keys(stage)]),
    ]


def _of_inputs(stage: Stage, upstreams: Mapping[str, Source | Stage]) -> Facts:
    facts = [("inputs", [*([] if stage.join is None else [_JOINS[stage.join]]), _LEAST])]
    for name, one in stage.inputs.items():
        by_itself = replace(alone(stage, one), max_versions_per_tick=stage.max_versions_per_tick)
        own = _of_elements(by_itself, upstreams.get(name))
        lines = [line for _, lines in own for line in lines if line != _NO_KEYS]
        facts.append((name, lines))
    return facts


_JOINS: Mapping[JoinKind, str] = {
    JoinKind.INNER: "a row for each pair of rows of a window",
    JoinKind.LEFT: "a row for each pair of rows of a window, and for those of the first input alone (left)",
    JoinKind.RIGHT: "a row for each pair of rows of a window, and for those of the second input alone (right)",
    JoinKind.FULL: "a row for each pair of rows of a window, and for those of either input alone (full)",
}


def _reads(stage: Stage, upstream: Source | Stage | None) -> str:
    if upstream is None:
        return stage.from_ or "what its pipeline says, or the frame of windrow.panes"
    if isinstance(upstream, Source):
        return f"{stage.from_}, {many(stage.max_versions_per_tick, 'landing batch', 'landing batches')} a tick"
    return f"the panes of {stage.from_}, {many(stage.max_versions_per_tick, 'tick')} of it a tick"


def results_in_words(stage: Stage) -> Mapping[str, str]:
    """What each result of a stage is, by its name: the aggregates and derived columns, or the columns of a join."""
    derived = {name: plain(expression) for name, expression in stage.derive.items()}
    if stage.join is None:
        return {**{name: aggregate.words() for name, aggregate in stage.aggregates.items()}, **derived}
    return {name: plain(expression) for one in stage.inputs.values() for name, expression in one.columns.items()}


def _element_time(stage: Stage) -> list[str]:
    time = stage.element_time
    if time is None:
        return []
    return [f"{plain(time.of)}; the watermark is held back by {length(time.backward)}"]


def _where(stage: Stage) -> list[str]:
    return [] if stage.where is None else [f"{plain(stage.where)}; other rows are counted as filtered"]


def _keys(stage: Stage) -> str:
    if not stage.keys:
        return _NO_KEYS
    texts = {name: plain(expression) for name, expression in stage.keys.items()}
    return ", ".join(name if name == text else f"{name} = {text}" for name, text in texts.items())


_NO_KEYS = "none: one result a window"


def in_short(stage: Stage) -> str:
    """Whether a stage joins, and its windows, in a few words."""
    fields = ", ".join(f"{name} {value}" for name, value in stage.window.to_mapping().items())
    windows = f"{stage.window.NAME}: {fields}" if fields else stage.window.NAME
    return windows if stage.join is None else f"{stage.join} join, {windows}"


def _fires(stage: Stage) -> list[str]:
    lines = stage.trigger.plan_lines()
    if stage.on_time is Emission.ALWAYS:
        lines.append("the pane on time comes even if nothing is new (on_time: always)")
    if stage.closing is Emission.ALWAYS:
        lines.append("a last pane comes when the window expires, even if nothing is new (closing: always)")
    elif not stage.trigger.NAMES_EXPIRY:
        lines.append("what is new and was not shown comes when the window expires")
    return lines


def _tasks(stage: Stage) -> list[str]:
    one = stage.window.one_task
    return [] if one is None or not stage.keys else [f"{one}; a tick takes as long as that of the largest key"]


def _panes(stage: Stage) -> list[str]:
    skipped = ["a pane that equals the window's last one is left out"] if stage.only_if_changed else []
    time = f"the event time of a pane is that of its {stage.event_time} new element, or the end of its window"
    times = [time] if stage.keeps_event_times else []
    retracted = ["a pane that is replaced is retracted first (retract)"] if stage.retract else []
    return [_ACCUMULATIONS[stage.accumulation], *retracted, *skipped, *times]


def _expires(stage: Stage) -> str:
    if stage.window.IS_GLOBAL:
        return "never; the window's state is kept for good"
    lateness = f" + {length(stage.allowed_lateness)}" if stage.allowed_lateness else ""
    return f"a window, with its state, when the watermark reaches its end{lateness}"


def _freshness(stage: Stage) -> list[str]:
    if stage.freshness is None:
        return []
    return [f"{allowed_text(stage.freshness)}, from the end of the newest window that is complete"]


def _late(stage: Stage) -> list[str]:
    late = "nothing" if stage.window.IS_GLOBAL else "what comes for an expired window: a dead letter late"
    if not can_close(stage.trigger, 0 if stage.window.IS_GLOBAL else stage.allowed_lateness):
        return [late]
    return [late, "what comes for a window whose trigger has finished (allow_closing): a dead letter closed"]
