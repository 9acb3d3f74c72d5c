"""What a run says of how old results are: in its log while it waits, and to whoever wants to hear of warnings.

Rule: docs/quality.md#freshness. An error does not end a run that waits: what it waits for may still come.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from windrow.airflow.options import Tell
from windrow.airflow.telling.notify import told
from windrow.drivers.clock import clock_micros
from windrow.drivers.inspect.freshness import freshness_among
from windrow.spec.errors import SpecError
from windrow.spec.stages.freshness import Freshness, FreshnessLevel
from windrow.store.delta.location import Lake
from windrow.store.reading.arrow import ArrowTables
from windrow.view.freshness import StageFreshness, freshness_lines

TOLD = "freshness"
"""What Airflow keeps for a task over all of its tries: the level of each stage that is not fresh, as it was told."""
SCHEDULED = "scheduled"
"""The type of a run that comes by its schedule."""
_LOG = logging.getLogger(__name__)
_LEVELS = list(FreshnessLevel)


def worse_than(before: Mapping[str, str], found: Iterable[StageFreshness]) -> list[StageFreshness]:
    """The stages that are staler than the levels `before` say; a stage without one was fresh."""
    known = {stage: _LEVELS.index(FreshnessLevel(level)) for stage, level in before.items()}
    return [one for one in found if _LEVELS.index(one.level) > known.get(one.stage, 0)]


@dataclass(frozen=True)
class FreshnessWatch:
    """The freshness of stages of a lake; `allowed` is what the pipeline file says of each.

    As a hook of a task it tells of stale results behind the work of a run that came by its schedule. A run over past
    windows, by hand or of an Airflow backfill, has another reason for what it finds.
    """

    lake: str
    allowed: Mapping[str, Freshness]
    tell: Tell | None = None

    def __call__(self, context: Any, result: Any = None) -> None:
        if context["dag_run"].run_type == SCHEDULED:
            self.tell_of(context)

    def tell_of(self, context: Any) -> dict[str, str]:
        """Tell of what has become staler since the task has last told; the levels that have been told by now."""
        store = context["task_state_store"]
        before: dict[str, str] = store.get(TOLD) or {}
        try:
            found = freshness_among(ArrowTables(), Lake.of(self.lake), self.allowed, clock_micros())
        except SpecError as error:
            _LOG.warning("How old the results are is not known here: %s", error)
            return before
        worse = worse_than(before, found)
        for one, line in zip(worse, freshness_lines(worse), strict=False):
            (_LOG.error if one.level is FreshnessLevel.ERROR else _LOG.warning)("Freshness of %s", line)
        levels = {one.stage: str(one.level) for one in found if one.level is not FreshnessLevel.FRESH}
        if levels != before:
            store.set(TOLD, levels)
        if worse and self.tell is not None:
            told(self.tell, {**context, "warnings": freshness_lines(worse)})
        return levels
