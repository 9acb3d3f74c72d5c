"""Triggers that are made of others: how a node follows from those below it. Rule: docs/semantics.md#triggers."""

from __future__ import annotations

from collections.abc import Iterator

from windrow.drivers.inspect.explain.triggers import leaves
from windrow.drivers.inspect.explain.triggers.nodes import Added, Moment, Node
from windrow.spec.evaluation.kinds import NotEvaluated
from windrow.spec.triggers import all as spec
from windrow.spec.triggers.all import Trigger


class Composite(Node):
    """A node with children; `live` are those that see elements and are waited for."""

    def __init__(self, trigger: Trigger) -> None:
        super().__init__(trigger)
        self.children = [follow(child) for child in trigger.children]

    def live(self) -> list[Node]:
        return self.children

    def on_elements(self, added: Added, moment: Moment) -> None:
        for child in self.live():
            child.on_elements(added, moment)

    def on_watermark(self, moment: Moment) -> None:
        for child in self.live():
            child.on_watermark(moment)

    def on_evaluated(self, moment: Moment) -> None:
        for child in self.live():
            child.on_evaluated(moment)

    def ready(self, moment: Moment) -> bool:
        return any(child.ready(moment) for child in self.live())

    def is_timer_due(self, moment: Moment) -> bool:
        return any(child.is_timer_due(moment) for child in self.live())

    def finish(self, moment: Moment) -> None:
        self.finished = True
        self.firing_child(moment).finish(moment)

    def reset(self, moment: Moment) -> None:
        self.finished = False
        for child in self.children:
            child.reset(moment)

    def firing_child(self, moment: Moment) -> Node:
        """The child that makes this node ready."""
        return next(child for child in self.children if child.ready(moment))

    def path(self, moment: Moment) -> Iterator[Node]:
        yield self
        yield from self.firing_child(moment).path(moment)

    def waits_for(self, moment: Moment) -> list[str]:
        return [words for child in self.live() for words in child.waits_for(moment)]


class FirstOf(Composite):
    """Ready when any child is; finished by firing, and with it the child that was ready."""


class AllOf(Composite):
    """Ready when every child has been ready since the reset: one that was stays so, and sees nothing more."""

    def __init__(self, trigger: Trigger) -> None:
        super().__init__(trigger)
        self.were_ready: set[int] = set()
        self.just_ready: list[int] = []

    def live(self) -> list[Node]:
        return [child for index, child in enumerate(self.children) if index not in self.were_ready]

    def on_evaluated(self, moment: Moment) -> None:
        super().on_evaluated(moment)
        waiting = [index for index in range(len(self.children)) if index not in self.were_ready]
        self.just_ready = [index for index in waiting if self.children[index].ready(moment)]
        self.were_ready |= set(self.just_ready)

    def ready(self, moment: Moment) -> bool:
        return len(self.were_ready) == len(self.children)

    def finish(self, moment: Moment) -> None:
        self.finished = True

    def reset(self, moment: Moment) -> None:
        super().reset(moment)
        self.were_ready, self.just_ready = set(), []

    def firing_child(self, moment: Moment) -> Node:
        return self.children[self.just_ready[0]]


class SequenceOf(Composite):
    """One child after the other; only the current one is there for elements, deadlines and questions."""

    def __init__(self, trigger: Trigger) -> None:
        super().__init__(trigger)
        self.current = 0

    def live(self) -> list[Node]:
        return self.children[self.current : self.current + 1]

    def finish(self, moment: Moment) -> None:
        self.finished = True

    def on_fire(self, moment: Moment) -> None:
        self.children[self.current].on_fire(moment)
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
    """As `Repeat`; finished after so many firings."""

    def __init__(self, trigger: Trigger) -> None:
        super().__init__(trigger)
        self.fired = 0

    def on_fire(self, moment: Moment) -> None:
        super().on_fire(moment)
        self.fired += 1
        self.finished = self.fired >= self.trigger.times

    def reset(self, moment: Moment) -> None:
        super().reset(moment)
        self.fired = 0


_NODES: dict[type[Trigger], type[Node]] = {
    spec.AtWatermark: leaves.AtWatermark, spec.AtPeriod: leaves.AtPeriod, spec.AfterDelay: leaves.AfterDelay,
    spec.AfterCount: leaves.AfterCount, spec.AfterBytes: leaves.AfterBytes, spec.AfterMatch: leaves.AfterMatch,
    spec.WhenResult: leaves.WhenResult, spec.AtClose: leaves.AtClose, spec.Never: leaves.Never,
    spec.FirstOf: FirstOf, spec.AllOf: AllOf, spec.SequenceOf: SequenceOf,
    spec.Repeat: Repeat, spec.RepeatUntil: RepeatUntil, spec.RepeatCount: RepeatCount,
}  # fmt: skip


def follow(trigger: Trigger) -> Node:
    """A trigger in its initial state. Raises NotEvaluated for a class of the user's own."""
    meant = spec.without_sugar(trigger)
    if type(meant) not in _NODES:
        raise NotEvaluated(f"the trigger {meant.NAME}")
    return _NODES[type(meant)](meant)
