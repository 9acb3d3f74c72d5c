"""What all nodes of a trigger's tree need, together. Rule: docs/semantics.md#triggers."""

from __future__ import annotations

from collections.abc import Iterator

from windrow.spec.aggregates import Aggregate, TotalSize
from windrow.spec.triggers.base import Trigger, without_sugar


def nodes_of(trigger: Trigger) -> Iterator[Trigger]:
    """The nodes of a tree in preorder, sugar taken out: their order is their numbers."""
    node = without_sugar(trigger)
    yield node
    for child in node.children:
        yield from nodes_of(child)


def tick_aggregates(trigger: Trigger) -> dict[str, Aggregate]:
    """What the nodes of a tree aggregate over the elements of a tick: `t<number>_<name>`."""
    return {
        f"t{number}_{name}": aggregate
        for number, node in enumerate(nodes_of(trigger))
        for name, aggregate in node.aggregates.items()
    }


def percentiles_of(trigger: Trigger) -> tuple[int, ...]:
    """The percentiles below 100 that a tree names, in order."""
    return tuple(sorted({percentile for node in nodes_of(trigger) for percentile in node.percentiles}))


def counts_bytes(trigger: Trigger) -> bool:
    """Whether a node of the tree needs the sizes of elements."""
    return any(isinstance(aggregate, TotalSize) for aggregate in tick_aggregates(trigger).values())
