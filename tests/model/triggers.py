"""The trees of triggers as small state machines: how a node follows from its children.

Rules: docs/semantics.md#triggers, docs/semantics.md#sessions.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from tests.model.elements import Row
from tests.model.trigger_leaves import (
    AfterBytes,
    AfterCount,
    AfterDelay,
    AfterMatch,
    AtClose,
    AtPeriod,
    AtWatermark,
    Moment,
    Never,
    Node,
    WhenResult,
)
from windrow.spec.triggers import all as spec
from windrow.spec.triggers.all import Domain, Trigger


class Composite(Node):
    """A node with children; `live` are those that see elements and have deadlines."""

    def __init__(self, node: Trigger) -> None:
        super().__init__(node)
        self.children = [build(child) for child in node.children]

    def live(self) -> list[Node]:
        return self.children

    def on_merge(self, parts: Sequence[Any], moment: Moment) -> None:
        """The children merge; it stays finished if it was in all parts and the child that finished it still is."""
        for child, *merging in zip(self.children, *[part.children for part in parts], strict=True):
            child.on_merge(merging, moment)
        self.finished = all(part.finished for part in parts) and any(child.finished for child in self.children)

    def finish(self, moment: Moment) -> None:
        self.finished = True
        self.firing_child(moment).finish(moment)

    def on_elements(self, rows: Sequence[Row], moment: Moment) -> None:
        for child in self.live():
            child.on_elements(rows, moment)

    def on_watermark(self, moment: Moment) -> None:
        for child in self.live():
            child.on_watermark(moment)

    def on_evaluated(self, moment: Moment) -> None:
        for child in self.live():
            child.on_evaluated(moment)

    def deadlines(self, moment: Moment) -> Iterator[tuple[Domain | int, int]]:
        for child in self.live():
            yield from child.deadlines(moment)

    def reset(self, moment: Moment) -> None:
        self.finished = False
        for child in self.children:
            child.reset(moment)

    def firing_child(self, moment: Moment) -> Node:
        """The child on the path that makes this node ready."""
        return next(child for child in self.children if child.ready(moment))

    def ready(self, moment: Moment) -> bool:
        return any(child.ready(moment) for child in self.live())

    def fired_path(self, moment: Moment) -> list[Trigger]:
        return [self.spec, *self.firing_child(moment).fired_path(moment)]


class FirstOf(Composite):
    """Ready when any child is; finished by firing, and with it the child that was ready."""


class AllOf(Composite):
    """Ready when every child has been ready since the reset: one that was stays so, and sees nothing more.

    Where cells merge, it forgets which were ready and asks again, also if it was finished.
    """

    def __init__(self, node: spec.AllOf) -> None:
        super().__init__(node)
        self.were_ready: set[int] = set()
        self.just_ready: list[int] = []

    def live(self) -> list[Node]:
        return [child for index, child in enumerate(self.children) if index not in self.were_ready]

    def on_evaluated(self, moment: Moment) -> None:
        super().on_evaluated(moment)
        waiting = [index for index in range(len(self.children)) if index not in self.were_ready]
        self.just_ready = [index for index in waiting if self.children[index].ready(moment)]
        self.were_ready |= set(self.just_ready)

    def finish(self, moment: Moment) -> None:
        self.finished = True

    def on_merge(self, parts: Sequence[AllOf], moment: Moment) -> None:
        super().on_merge(parts, moment)
        self.finished = False

    def ready(self, moment: Moment) -> bool:
        return len(self.were_ready) == len(self.children)

    def reset(self, moment: Moment) -> None:
        super().reset(moment)
        self.were_ready, self.just_ready = set(), []

    def firing_child(self, moment: Moment) -> Node:
        return self.children[self.just_ready[0]]


class SequenceOf(Composite):
    """One child after the other; only the current one is there for elements, deadlines and questions.

    It is the first that is not finished, also where cells have merged.
    """

    def __init__(self, node: spec.SequenceOf) -> None:
        super().__init__(node)
        self.current = 0

    def live(self) -> list[Node]:
        return self.children[self.current : self.current + 1]

    def finish(self, moment: Moment) -> None:
        self.finished = True

    def on_merge(self, parts: Sequence[SequenceOf], moment: Moment) -> None:
        super().on_merge(parts, moment)
        self._move()

    def on_fire(self, moment: Moment) -> None:
        self.children[self.current].on_fire(moment)
        self._move()

    def _move(self) -> None:
        self.finished = all(child.finished for child in self.children)
        self.current = [*[child.finished for child in self.children], False].index(False)

    def reset(self, moment: Moment) -> None:
        super().reset(moment)
        self.current = 0

    def firing_child(self, moment: Moment) -> Node:
        return self.children[self.current]


class Repeat(Composite):
    """Its child again and again, reset whenever it has finished. Never finished."""

    def on_fire(self, moment: Moment) -> None:
        child = self.children[0]
        child.on_fire(moment)
        if child.finished:
            child.reset(moment)


class RepeatUntil(Repeat):
    """As `Repeat`; finished when it fires with `until` ready, which is not reset by the other's firings."""

    def on_fire(self, moment: Moment) -> None:
        if self.children[1].ready(moment):
            self.finish(moment)
        else:
            super().on_fire(moment)

    def firing_child(self, moment: Moment) -> Node:
        repeat, until = self.children
        return until if until.ready(moment) else repeat


class RepeatCount(Repeat):
    """As `Repeat`; finished after `times` firings."""

    def __init__(self, node: spec.RepeatCount) -> None:
        super().__init__(node)
        self.fired = 0

    def on_fire(self, moment: Moment) -> None:
        super().on_fire(moment)
        self.fired += 1
        self.finished = self.fired >= self.spec.times

    def on_merge(self, parts: Sequence[RepeatCount], moment: Moment) -> None:
        """It has fired as often as in the part in which it has fired the least."""
        super().on_merge(parts, moment)
        self.fired = min(part.fired for part in parts)
        self.finished = all(part.finished for part in parts)

    def reset(self, moment: Moment) -> None:
        super().reset(moment)
        self.fired = 0


_MACHINES: dict[type[Trigger], type[Node]] = {
    spec.AtWatermark: AtWatermark,
    spec.AtPeriod: AtPeriod,
    spec.AfterDelay: AfterDelay,
    spec.AfterCount: AfterCount,
    spec.AfterBytes: AfterBytes,
    spec.AfterMatch: AfterMatch,
    spec.WhenResult: WhenResult,
    spec.AtClose: AtClose,
    spec.Never: Never,
    spec.FirstOf: FirstOf,
    spec.AllOf: AllOf,
    spec.SequenceOf: SequenceOf,
    spec.Repeat: Repeat,
    spec.RepeatUntil: RepeatUntil,
    spec.RepeatCount: RepeatCount,
}


def build(trigger: Trigger) -> Node:
    """The state machine of a trigger, in its initial state; a class of a user's own brings its `TWIN`."""
    trigger = spec.without_sugar(trigger)
    twin: type[Node] | None = getattr(type(trigger), "TWIN", None)
    return (twin or _MACHINES[type(trigger)])(trigger)
