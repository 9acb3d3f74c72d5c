"""How far a stage has read the logs of its inputs. Rules: docs/semantics.md#ticks, docs/semantics.md#several-inputs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Offsets:
    """By input, the number of the last step of its log that was read; 0 before the first, which is left out.

    A stage only moves forward, so of two of its offsets one is behind the other, or they are equal. Only a head that
    was seen before another writer moved the stage may be ahead in one log and behind in another.
    """

    steps: Mapping[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if any(step < 0 for step in self.steps.values()):
            raise ValueError(f"steps are counted from 1; got {self.steps}")
        object.__setattr__(self, "steps", {name: step for name, step in self.steps.items() if step})

    def of(self, name: str) -> int:
        """The last step that was read of the log of an input; 0 before the first."""
        return self.steps.get(name, 0)

    @property
    def is_start(self) -> bool:
        """Whether nothing has been read."""
        return not self.steps

    def is_ahead_of(self, other: Offsets) -> bool:
        """Whether some log has been read further."""
        return any(step > other.of(name) for name, step in self.steps.items())

    def covers(self, other: Offsets) -> bool:
        """Whether no log has been read less far."""
        return not other.is_ahead_of(self)

    def towards(self, head: Offsets, most: int) -> Offsets:
        """At most so many steps of each log further, none past the head, and none back where the head is behind."""
        ahead = {name: max(self.of(name), min(self.of(name) + most, step)) for name, step in head.steps.items()}
        return Offsets({**self.steps, **ahead})

    def with_step(self, name: str, step: int) -> Offsets:
        """The same but for one log, which has been read up to that step."""
        return Offsets({**self.steps, name: step})

    def common(self, other: Offsets) -> Offsets:
        """What both have read of each log."""
        return Offsets({name: min(step, other.of(name)) for name, step in self.steps.items()})


def steps_between(after: Offsets, until: Offsets, logs: Mapping[str, str]) -> int:
    """How many steps `until` has read and `after` has not; those of a log that several inputs read count once.

    `logs` are the names of what the inputs read.
    """
    between = dict.fromkeys(logs.values(), 0)
    for name, log in logs.items():
        between[log] = max(between[log], until.of(name) - after.of(name))
    return sum(between.values())


START = Offsets()
"""Nothing has been read."""
