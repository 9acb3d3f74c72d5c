"""Which node computes which trigger."""

from __future__ import annotations

from collections.abc import Mapping

from windrow.compile.triggers.composites import (
    AllNode,
    FirstNode,
    RepeatCountNode,
    RepeatNode,
    RepeatUntilNode,
    SequenceNode,
)
from windrow.compile.triggers.custom import CustomNode
from windrow.compile.triggers.leaves import (
    BytesNode,
    CloseNode,
    CountNode,
    DelayNode,
    MatchNode,
    NeverNode,
    PeriodNode,
    ResultNode,
    WatermarkNode,
)
from windrow.compile.triggers.merging import MergingFirstNode, MergingSequenceNode
from windrow.compile.triggers.nodes import Node
from windrow.spec.triggers.all import (
    AfterBytes,
    AfterCount,
    AfterDelay,
    AfterMatch,
    AllOf,
    AtClose,
    AtPeriod,
    AtWatermark,
    FirstOf,
    Never,
    Repeat,
    RepeatCount,
    RepeatUntil,
    SequenceOf,
    Trigger,
    WhenResult,
)
from windrow.spec.triggers.custom import CustomTrigger

Nodes = Mapping[type[Trigger], type[Node]]

NODES: Nodes = {
    AtWatermark: WatermarkNode, AtPeriod: PeriodNode, AfterDelay: DelayNode, AfterCount: CountNode,
    AfterBytes: BytesNode, AfterMatch: MatchNode, WhenResult: ResultNode, AtClose: CloseNode, Never: NeverNode,
    FirstOf: FirstNode, AllOf: AllNode, SequenceOf: SequenceNode,
    Repeat: RepeatNode, RepeatUntil: RepeatUntilNode, RepeatCount: RepeatCountNode, CustomTrigger: CustomNode,
}  # fmt: skip

MERGING_NODES: Nodes = {**NODES, FirstOf: MergingFirstNode, SequenceOf: MergingSequenceNode}
"""Those of windows that merge."""


def node_type(trigger: Trigger, nodes: Nodes) -> type[Node]:
    """The node of a trigger's class, or of the nearest that it derives from."""
    return next(nodes[cls] for cls in type(trigger).__mro__ if cls in nodes)
