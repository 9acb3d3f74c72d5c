"""Which specifications are worth choosing, and what each buys. Rule: docs/simulate.md#the-pareto-front."""

from __future__ import annotations

from collections.abc import Iterable

from windrow.view.simulate.findings import Findings

_FOREVER = 2**62


def aims(one: Findings) -> tuple[float, float, float]:
    """What is to be small: windows wrong at first, the time to the first pane, and rows written for each window."""
    first = one.to_first.median
    return (1 - one.share_right_at_first, _FOREVER if first is None else first, one.panes_per_window)


def front_of(findings: Iterable[Findings]) -> tuple[str, ...]:
    """The names of those that no other one beats: it is as good in every aim, and better in one."""
    several = list(findings)
    return tuple(one.name for one in several if not any(_beats(other, one) for other in several))


def _beats(one: Findings, other: Findings) -> bool:
    pairs = list(zip(aims(one), aims(other), strict=True))
    return all(a <= b for a, b in pairs) and any(a < b for a, b in pairs)
