"""Triggers: when a window emits a pane. A trigger is a tree of these nodes. Rule: docs/semantics.md#triggers.

A node says what it is and what it can do; its state machine is `windrow.compile.triggers.tree`.
"""

from __future__ import annotations

from windrow.spec.triggers.base import Then, Trigger, without_sugar
from windrow.spec.triggers.composites import (
    AfterWatermark,
    AllOf,
    FirstOf,
    Repeat,
    RepeatCount,
    RepeatUntil,
    SequenceOf,
)
from windrow.spec.triggers.domains import Domain
from windrow.spec.triggers.grammar import TRIGGER, TRIGGERS, WORDS, TriggerLike
from windrow.spec.triggers.leaves import (
    AfterBytes,
    AfterCount,
    AfterDelay,
    AfterMatch,
    AtClose,
    AtPeriod,
    AtWatermark,
    Never,
    WhenResult,
)
from windrow.spec.triggers.tree import counts_bytes, nodes_of, percentiles_of, tick_aggregates

__all__ = [
    "DEFAULT_TRIGGER", "TRIGGER", "TRIGGERS", "AfterBytes", "AfterCount", "AfterDelay", "AfterMatch", "AfterWatermark",
    "AllOf", "AtClose", "AtPeriod", "AtWatermark", "Domain", "FirstOf", "Never", "Repeat", "RepeatCount",
    "RepeatUntil", "SequenceOf", "Then", "Trigger", "TriggerLike", "WhenResult", "counts_bytes", "nodes_of",
    "percentiles_of", "tick_aggregates", "without_sugar",
]  # fmt: skip

DEFAULT_TRIGGER: Trigger = Repeat(AtWatermark())

_OWN: tuple[type[Trigger], ...] = (
    AtWatermark, AtPeriod, AfterDelay, AfterCount, AfterBytes, AfterMatch, WhenResult, AtClose, Never,
    FirstOf, AllOf, SequenceOf, Repeat, RepeatUntil, RepeatCount, AfterWatermark,
)  # fmt: skip
TRIGGERS.update({cls.NAME: cls for cls in _OWN})
WORDS.update({"default": DEFAULT_TRIGGER, "never": Never(), "at_close": AtClose()})
