"""The stages that cannot be simulated: each is refused by name.

Rule: docs/simulate.md#what-can-be-simulated. A cell is taken through its ticks by itself, and only by the number of its
elements: so it must not become one with others, and no pane may depend on a value.
"""

from __future__ import annotations

from collections.abc import Sequence

from windrow.spec.errors import NotInThisVersion
from windrow.spec.stages.refusals import Refusal, Rule
from windrow.spec.stages.stage import Stage
from windrow.spec.triggers.all import nodes_of


def _looks_at_results(stage: Stage) -> bool:
    return any(node.conditions for node in nodes_of(stage.trigger))


def _has_own_triggers(stage: Stage) -> bool:
    return any(not type(node).__module__.startswith("windrow.") for node in nodes_of(stage.trigger))


TRIED: Sequence[Rule[Stage]] = (
    Refusal(
        "inputs",
        applies=lambda stage: bool(stage.inputs),
        rule="are not simulated in this version: a stage of several inputs",
        hint="simulate a stage that reads one source",
        error=NotInThisVersion,
    ),
    Refusal(
        "window",
        applies=lambda stage: stage.window.MERGES or stage.window.MADE_BY_RECORDS or stage.window.FOLLOWS_PANES,
        rule="is not simulated in this version: such windows depend on other elements",
        got=lambda stage: stage.window.NAME,
        hint="fixed, sliding, cumulative or calendar windows",
        error=NotInThisVersion,
    ),
    Refusal(
        "window",
        applies=lambda stage: stage.window.IS_GLOBAL,
        rule="never ends, so that nothing can be said of its latency",
        got=lambda stage: stage.window.NAME,
        hint="a window that ends, for instance {fixed: {size: 1h}}",
    ),
    Refusal(
        "trigger",
        applies=_looks_at_results,
        rule="is not simulated in this version: it looks at results, and only numbers of elements are known",
        got=lambda stage: stage.trigger.NAME,
        hint="simulate a copy of the file with another trigger",
        error=NotInThisVersion,
    ),
    Refusal(
        "trigger",
        applies=_has_own_triggers,
        rule="is not simulated in this version: a class of your own",
        got=lambda stage: stage.trigger.NAME,
        error=NotInThisVersion,
    ),
    Refusal(
        "having",
        applies=lambda stage: stage.having is not None,
        rule="is not simulated in this version: it looks at results, and only numbers of elements are known",
        error=NotInThisVersion,
    ),
    Refusal(
        "only_if_changed",
        applies=lambda stage: stage.only_if_changed,
        rule="is not simulated in this version: it compares results, and only numbers of elements are known",
        error=NotInThisVersion,
    ),
)
