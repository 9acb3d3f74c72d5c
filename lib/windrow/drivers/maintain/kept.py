"""How much of what is not in use any more maintenance leaves."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from windrow.spec.errors import SpecError
from windrow.spec.times import DAY, HOUR, format_duration

KEEP = MOST_KEPT = 7 * DAY
"""So long Delta remembers which files it has removed, and reads old versions."""
MOST_LOGGED = 30 * DAY
"""So long Delta keeps commits, unless a table says otherwise."""
LEAST_KEPT = HOUR
"""Whoever reads a table has so long to come to its end, at least."""


@dataclass(frozen=True)
class Kept:
    """`keep` and `log` are microseconds of `clock`.

    Without `log` the commits of tables stay as long as Delta keeps them. `erases`: of what the tables have no more
    nothing is kept. Only files that no commit has named are left for as long as `keep` says: a writer at work may be
    about to commit them.
    """

    keep: int
    clock: Callable[[], int]
    log: int | None = None
    erases: bool = False

    @classmethod
    def of(cls, keep: int, log: int | None, clock: Callable[[], int]) -> Kept:
        """As a user says it. Errors: SpecError where `keep` is neither 0 nor from an hour to seven days, or `log` not
        from `keep`, or an hour, to thirty days.
        """
        if keep and not LEAST_KEPT <= keep <= MOST_KEPT:
            hint = "whoever reads a table has to come to its end; and Delta reads no version that is older than 7 days"
            raise SpecError("keep", "must be 0h, or from 1h to 7d", format_duration(keep), hint)
        if log is not None and not max(keep, LEAST_KEPT) <= log <= MOST_LOGGED:
            least = f"{format_duration(keep)}, as --keep," if keep else format_duration(LEAST_KEPT)
            hint = "a version that can be read needs its commit; and Delta removes commits by itself after 30 days"
            raise SpecError("log", f"must be from {least} to 30d", format_duration(log), hint)
        return cls(max(keep, LEAST_KEPT), clock, log, erases=keep == 0)

    @property
    def since(self) -> int:
        """What was in use at that time or later is kept."""
        return self.clock() - (0 if self.erases else self.keep)

    @property
    def named_since(self) -> int:
        """Files that no commit has named are kept that were written at that time or later."""
        return self.clock() - self.keep

    @property
    def logged_since(self) -> int | None:
        """Commits are kept that were made at that time or later; None: as Delta does."""
        return None if self.log is None else self.clock() - self.log
