"""A backfill: one tick over all elements, with the watermark at +infinity after it.

Rules: docs/semantics.md#backfill-and-reconcile, docs/semantics.md#the-watermark-of-a-batch.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from tests.model.clock import BATCH_CLOCK
from tests.model.elements import Element
from tests.model.state import State
from tests.model.tick import Tick, tick
from tests.model.typed_stage import TypedStage
from windrow.spec.stages.stage import Stage


def batch(stage: Stage, schema: Mapping[str, str], elements: Iterable[Element], weight: str | None = None) -> Tick:
    """The one tick of a batch: every window once."""
    return tick(TypedStage(stage, schema, weight=weight), State(), elements, BATCH_CLOCK)
