"""How old the results of a stage are, in words."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

from windrow.spec.stages.freshness import Freshness, FreshnessLevel
from windrow.spec.times import format_duration, format_time
from windrow.view.text.times import about, moment


@dataclass(frozen=True)
class StageFreshness:
    """The end of the newest complete window that a stage shows, None without one, and how long ago that is.

    Microseconds. `allowed` is what its pipeline file says of it.
    """

    stage: str
    allowed: Freshness
    complete_until: int | None
    age: int | None

    @property
    def level(self) -> FreshnessLevel:
        return self.allowed.level(self.age)

    def to_mapping(self) -> dict[str, Any]:
        """As plain values for JSON: the time in ISO 8601, the age in whole seconds."""
        until = None if self.complete_until is None else format_time(self.complete_until)
        age = None if self.age is None else self.age // 1_000_000
        allowed = {name: value and format_duration(value) for name, value in asdict(self.allowed).items()}
        return {
            "stage": self.stage, "level": str(self.level), "complete_until": until, "age_seconds": age, **allowed
        }  # fmt: skip


def allowed_text(allowed: Freshness) -> str:
    """`a warning after 2h, an error after 6h`."""
    levels = {"a warning": allowed.warn, "an error": allowed.error}
    return ", ".join(f"{name} after {format_duration(value)}" for name, value in levels.items() if value is not None)


def freshness_text(found: StageFreshness) -> str:
    """`fresh: complete up to 2013-01-31 23:00, 1h 12m ago (a warning after 2h, an error after 6h)`."""
    after = allowed_text(found.allowed)
    if found.complete_until is None or found.age is None:
        return f"{found.level}: shows no complete window yet ({after})"
    when = f"{about(found.age)} ago" if found.age > 0 else "which is not over yet"
    return f"{found.level}: complete up to {moment(found.complete_until)}, {when} ({after})"


def freshness_lines(found: Iterable[StageFreshness]) -> list[str]:
    """A line for each stage that has a freshness."""
    lines = [f"{one.stage}: {freshness_text(one)}" for one in found]
    return lines or ["no stage has a freshness: `freshness: {warn: 2h, error: 6h}`"]
