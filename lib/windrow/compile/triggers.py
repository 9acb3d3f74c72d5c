"""A trigger tree as projections: one for each phase and height, so that a plan grows linearly with the tree.

The phases of a tick, in order: elements go down the tree (`add`), readiness goes up (`ask`), the firing goes down and
what has finished up, resets go down, and the new state has its deadlines (`fire`). Rule: SEMANTICS section 5.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from windrow.compile.chain import Chain
from windrow.compile.sql import Column, Value, bigint, lit, when
from windrow.compile.trigger_nodes import (
    AllNode,
    CloseNode,
    CountNode,
    DeadlineNode,
    FirstNode,
    NeverNode,
    Node,
    PeriodNode,
    RepeatCountNode,
    RepeatNode,
    RepeatUntilNode,
    SequenceNode,
    TickClock,
    WatermarkNode,
    earliest,
)
from windrow.spec.times import INFINITY
from windrow.spec.triggers import (
    AfterCount,
    AfterDelay,
    AfterWatermark,
    AllOf,
    AtClose,
    AtPeriod,
    AtWatermark,
    Domain,
    FirstOf,
    Never,
    Repeat,
    RepeatCount,
    RepeatUntil,
    SequenceOf,
    Trigger,
)

_NODES: Mapping[type[Trigger], type[Node]] = {
    AtWatermark: WatermarkNode, AtPeriod: PeriodNode, AfterDelay: DeadlineNode, AfterCount: CountNode,
    AtClose: CloseNode, Never: NeverNode, FirstOf: FirstNode, AllOf: AllNode, SequenceOf: SequenceNode,
    Repeat: RepeatNode, RepeatUntil: RepeatUntilNode, RepeatCount: RepeatCountNode,
}  # fmt: skip

DUE: Mapping[Domain, str] = {Domain.PROCESSING_TIME: "due_now", Domain.EVENT_TIME: "due_watermark"}
"""The columns of a cell that hold the next value of a clock at which its trigger must be asked."""


@dataclass(frozen=True)
class TriggerTree:
    """The nodes of a tree in preorder, the root first."""

    nodes: tuple[Node, ...]

    @property
    def root(self) -> Node:
        return self.nodes[0]

    @property
    def state(self) -> Mapping[str, tuple[str, Value]]:
        """The fields of the tree's state: column name, type and initial value."""
        return {node.name(name): field for node in self.nodes for name, field in node.fields.items()}

    @property
    def leaf_names(self) -> tuple[str, ...]:
        """The grammar name of each node, by its number."""
        return tuple(node.trigger.NAME for node in self.nodes)

    @property
    def firings(self) -> str:
        return self.root.name("ready")

    def add(self, cells: Chain, is_open: Column, clock: TickClock) -> Chain:
        """The state after the tick's elements, for the cells that are open."""
        cells = cells.with_columns({self.root.name("sees"): is_open})
        for parents in self._by_depth():
            cells = _project(cells, ((child.name("sees"), sees) for child, sees in _children(parents, _sees)))
        return _project(cells, self._state(lambda node: node.add(clock)))

    def ask(self, cells: Chain, clock: TickClock) -> Chain:
        """Which nodes are ready, and which leaf would have fired."""
        for nodes in self._by_height():
            ready = ((node.name("ready"), node.ready(clock)) for node in nodes)
            leaf = ((node.name("leaf"), node.leaf()) for node in nodes)
            cells = _project(cells, [*ready, *leaf])
        return cells

    def fire(self, cells: Chain, clock: TickClock) -> Chain:
        """The state after the firing, `t0_finished`, and the deadlines of the new state."""
        fires = self.root.col("sees") & self.root.col("ready")
        cells = cells.with_columns({self.root.name("fires"): fires, self.root.name("reset"): lit(False)})
        for parents in self._by_depth():
            cells = _project(cells, ((child.name("fires"), on) for child, on in _children(parents, _fires)))
        for nodes in self._by_height():
            cells = _project(cells, ((node.name("finished"), node.finished()) for node in nodes))
        for parents in self._by_depth():
            cells = _project(cells, ((child.name("reset"), on) for child, on in _children(parents, _reset)))
        cells = _project(cells, self._state(lambda node: _after_firing(node, clock)))
        for nodes in self._by_height():
            cells = _project(cells, self._due(nodes, clock))
        return cells

    def due(self, domain: Domain) -> Column:
        """The next value of a clock at which the tree must be asked, after `fire`; +infinity for never."""
        return self.root.col(f"due_{domain}") if self.root.has_due(domain) else bigint(INFINITY)

    def _due(self, nodes: Iterable[Node], clock: TickClock) -> Iterator[tuple[str, Column]]:
        for node in nodes:
            for domain in Domain:
                if node.has_due(domain):
                    yield node.name(f"due_{domain}"), node.due(domain, clock)

    def _state(self, change: Callable[[Node], Mapping[str, Column]]) -> Iterator[tuple[str, Column]]:
        for node in self.nodes:
            for name, column in change(node).items():
                yield node.name(name), column

    def _by_height(self) -> list[list[Node]]:
        """The nodes from the leaves to the root."""
        levels: list[list[Node]] = [[] for _ in range(self.root.height + 1)]
        for node in self.nodes:
            levels[node.height].append(node)
        return levels

    def _by_depth(self) -> Iterator[list[Node]]:
        """The nodes that have children, from the root to the leaves."""
        level = [self.root]
        while level := [node for node in level if node.children]:
            yield level
            level = [child for node in level for child in node.children]


def compile_trigger(trigger: Trigger) -> TriggerTree:
    """The tree of a trigger, with sugar taken out."""
    nodes: list[Node] = []
    _build(trigger, nodes)
    return TriggerTree(tuple(nodes))


def _build(trigger: Trigger, nodes: list[Node]) -> Node:
    if isinstance(trigger, AfterWatermark):
        return _build(trigger.desugared(), nodes)
    node = _NODES[type(trigger)](len(nodes), trigger)
    nodes.append(node)
    node.children.extend(_build(child, nodes) for child in trigger.children)
    return node


def _children(parents: Iterable[Node], of: Callable[[Node, int], Column]) -> Iterator[tuple[Node, Column]]:
    for parent in parents:
        for index, child in enumerate(parent.children):
            yield child, of(parent, index)


def _sees(parent: Node, child: int) -> Column:
    return parent.sees(child)


def _fires(parent: Node, child: int) -> Column:
    return parent.child_fires(child)


def _reset(parent: Node, child: int) -> Column:
    return parent.col("reset") | parent.child_reset(child)


def _after_firing(node: Node, clock: TickClock) -> Mapping[str, Column]:
    initial, advanced = node.initial(clock), node.advanced()
    return {name: when(node.col("reset"), initial[name], advanced.get(name, node.col(name))) for name in node.fields}


def _project(cells: Chain, columns: Iterable[tuple[str, Column]]) -> Chain:
    """The cells with these columns, in one projection."""
    return cells.with_columns(dict(columns))


__all__ = ["DUE", "TickClock", "TriggerTree", "compile_trigger", "earliest"]
