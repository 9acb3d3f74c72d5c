"""A trigger tree as projections: one for each phase and height, so that a plan grows linearly with the tree.

The phases of a tick, in order: elements go down the tree (`add`), readiness goes up (`evaluate`), the firing goes down
and what has finished up, resets go down, and the new state has its timers (`fire`). Rule: docs/semantics.md#triggers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from windrow.compile.aggregates.parts import CompiledAggregate, Values
from windrow.compile.columns import WINDOW_END
from windrow.compile.sql.chain import Chain
from windrow.compile.sql.columns import Column, Value, bigint, col, lit, when
from windrow.compile.triggers.clocks import NOW, WATERMARK, CellClock, TickClock, percentile_clock
from windrow.compile.triggers.nodes import Node
from windrow.compile.triggers.registry import NODES, Nodes, node_type
from windrow.spec.expressions import Expression
from windrow.spec.times import INFINITY
from windrow.spec.triggers.all import Then, Trigger, percentiles_of, without_sugar


def timer_column(clock: str) -> str:
    """The column of a cell that holds the timer of its trigger on a clock."""
    return f"timer_{clock}"


@dataclass(frozen=True)
class TriggerTree:
    """The nodes of a tree in preorder, the root first, and what they aggregate over the elements of a tick."""

    nodes: tuple[Node, ...]
    aggregates: Mapping[str, CompiledAggregate]

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
    def thens(self) -> tuple[Then | None, ...]:
        """What the innermost node that says so on the path to each node asks for, by the node's number."""
        found: dict[int, Then | None] = {}
        _collect_thens(self.root, None, found)
        return tuple(found[node.number] for node in self.nodes)

    @property
    def firings(self) -> str:
        return self.root.name("ready")

    @property
    def gathered(self) -> dict[str, Column]:
        """What is gathered over the cells that merge, as aggregates."""
        return {node.gathered_name(suffix): found for node in self.nodes for suffix, found in node.gathered().items()}

    def merged(self, clock: CellClock) -> dict[str, Column]:
        """The state in the merged window, by field, over what was gathered; fields left out are as in a new one."""
        return dict(self._state(lambda node: node.merged(clock)))

    def add(self, cells: Chain, is_open: Column, clock: CellClock) -> Chain:
        """The state after the tick's elements, for the cells that are open."""
        for_nodes = (node.clock_columns(clock).items() for node in self.nodes)
        cells = _project(cells, (column for columns in for_nodes for column in columns))
        cells = cells.with_columns({self.root.name("sees"): is_open, **self._of_tick()})
        for parents in self._by_depth():
            cells = _project(cells, ((child.name("sees"), sees) for child, sees in _children(parents, _sees)))
        return _project(cells, self._state(lambda node: node.add(clock)))

    def _of_tick(self) -> dict[str, Column]:
        """The values of what the nodes aggregate: `t<i>_tick_<name>`."""
        return {_tick_column(name): aggregate.value(tick_parts_of(name)) for name, aggregate in self.aggregates.items()}

    @property
    def conditions(self) -> dict[str, Expression]:
        """The conditions over the cell's results, by the column in which a node wants to find whether they hold."""
        return {node.name("holds"): condition for node in self.nodes for condition in node.trigger.conditions}

    def evaluate(self, cells: Chain, clock: CellClock) -> Chain:
        """Which nodes are ready, and which leaf would have fired."""
        for nodes in self._by_height():
            ready = ((node.name("ready"), node.ready(clock)) for node in nodes)
            leaf = ((node.name("leaf"), node.leaf()) for node in nodes)
            cells = _project(cells, [*ready, *leaf])
        return cells

    def fire(self, cells: Chain, clock: CellClock) -> Chain:
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
            cells = _project(cells, self._timers(nodes, clock))
        return cells

    @property
    def clocks(self) -> tuple[str, ...]:
        """The names of the clocks that cells have deadlines of: the two of every stage, and percentiles."""
        return (NOW, WATERMARK, *map(percentile_clock, percentiles_of(self.root.trigger)))

    def timer(self, clock: str) -> Column:
        """When the tree must be evaluated next, by a clock, after `fire`; +infinity for never."""
        return self.root.col(f"timer_{clock}") if self.root.has_timer(clock) else bigint(INFINITY)

    @property
    def waiting(self) -> Mapping[str, Column]:
        """State and timers of a tree that got elements, and waits for nothing but the end of its window."""
        state = {node.name(name): lit(value) for node in self.nodes for name, value in node.waiting().items()}
        ends = {True: col(WINDOW_END), False: bigint(INFINITY)}
        return {**state, **{timer_column(name): ends[self.root.has_timer(name)] for name in self.clocks}}

    def _timers(self, nodes: Iterable[Node], clock: CellClock) -> Iterator[tuple[str, Column]]:
        for node in nodes:
            for name in self.clocks:
                if node.has_timer(name):
                    yield node.name(f"timer_{name}"), node.timer(name, clock)

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


def compile_trigger(
    trigger: Trigger, aggregates: Mapping[str, CompiledAggregate] | None = None, types: Nodes = NODES
) -> TriggerTree:
    """The tree of a trigger, with sugar taken out. `aggregates` are those of its `tick_aggregates`, compiled.

    `types` are the nodes that it is made of, which depend on what its cells are.
    """
    nodes: list[Node] = []
    _build(trigger, nodes, types)
    return TriggerTree(tuple(nodes), aggregates or {})


def tick_part(name: str, part: str) -> str:
    """The column of a part of what a node aggregates over the elements of a tick."""
    return f"q_{name}_{part}"


def tick_parts_of(name: str) -> Values:
    """The columns of those parts, by part."""
    return lambda part: col(tick_part(name, part))


def _tick_column(name: str) -> str:
    node, _, own = name.partition("_")
    return f"{node}_tick_{own}"


def _build(trigger: Trigger, nodes: list[Node], types: Nodes) -> Node:
    trigger = without_sugar(trigger)
    node = node_type(trigger, types)(len(nodes), trigger)
    nodes.append(node)
    node.children.extend(_build(child, nodes, types) for child in trigger.children)
    return node


def _collect_thens(node: Node, above: Then | None, found: dict[int, Then | None]) -> None:
    found[node.number] = node.trigger.then or above
    for child in node.children:
        _collect_thens(child, found[node.number], found)


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


def _after_firing(node: Node, clock: CellClock) -> Mapping[str, Column]:
    initial, advanced = node.initial(clock), node.advanced()
    return {name: when(node.col("reset"), initial[name], advanced.get(name, node.col(name))) for name in node.fields}


def _project(cells: Chain, columns: Iterable[tuple[str, Column]]) -> Chain:
    """The cells with these columns, in one projection."""
    return cells.with_columns(dict(columns))


__all__ = ["NOW", "TickClock", "TriggerTree", "compile_trigger", "tick_part", "tick_parts_of", "timer_column"]
