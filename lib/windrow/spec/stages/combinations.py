"""The fields of one stage that do not go together.

Rules: docs/semantics.md#accumulation-and-changes, docs/semantics.md#triggers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from windrow.spec.errors import NotInThisVersion
from windrow.spec.stages.refusals import Refusal, Rule
from windrow.spec.triggers.all import DEFAULT_TRIGGER
from windrow.spec.triggers.closing import can_close

if TYPE_CHECKING:
    from windrow.spec.stages.stage import Stage

FIELDS: tuple[Rule[Stage], ...] = (
    Refusal(
        "explode",
        applies=lambda stage: len(stage.explode) > 1,
        rule="takes one array",
        got=lambda stage: ", ".join(stage.explode),
        hint="one array of structs, or a stage for each",
    ),
    Refusal(
        "explode",
        applies=lambda stage: bool(stage.explode) and can_close(stage.trigger, stage.lateness_of_trigger),
        rule="with a trigger that can finish too soon (allow_closing) is not in this version",
        error=NotInThisVersion,
    ),
    Refusal(
        "retract",
        applies=lambda stage: stage.retract and stage.clears_by_mode,
        rule="does not go with a mode that clears",
        got=lambda stage: str(stage.accumulation),
        hint="accumulating",
    ),
    Refusal(
        "only_if_changed",
        applies=lambda stage: stage.only_if_changed and stage.clears_by_mode,
        rule="does not go with a mode that clears: there is no earlier pane to compare with",
        got=lambda stage: str(stage.accumulation),
        hint="accumulating or retracting",
    ),
    Refusal(
        "having",
        applies=lambda stage: stage.having is not None and (stage.clears_by_mode or stage.is_mixed),
        rule="does not go with a mode that clears: it judges the result of a whole window, and a pane holds a part",
        got=lambda stage: str(stage.accumulation),
        hint="accumulating or retracting",
    ),
)
"""Before `retract` is settled as a mode."""

WINDOW_AND_TRIGGER: tuple[Rule[Stage], ...] = (
    Refusal(
        "trigger",
        applies=lambda stage: stage.window.IS_GLOBAL and stage.trigger == DEFAULT_TRIGGER,
        rule="must not be the default one with a global window, which never completes in a stream",
        got=lambda stage: "default",
        hint="for instance {repeat: {after_count: 100}}, or a window that ends",
    ),
)
"""After the expressions of the trigger and the keys of the window."""
