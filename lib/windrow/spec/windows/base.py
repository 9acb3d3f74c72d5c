"""What every window function says of itself. Rule: docs/semantics.md#windows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import ClassVar

from windrow.spec.expressions import Expression
from windrow.spec.fields.reading import Spec
from windrow.spec.times import DAY

MOST_WINDOWS = 10_000
"""Of one element."""
LONGEST = 10_000 * 365 * DAY
"""Of any window, so that sums of times and lengths stay within 64 bits."""


class WindowFunction(Spec):
    """The base of all window functions. `NAME` is the name in YAML, `IS_GLOBAL` is true for the one that never ends.

    `MERGES` is true where the windows of a key merge, `MADE_BY_RECORDS` where they depend on its other elements,
    `FOLLOWS_PANES` where they are those of the panes that are read.
    `REASON` is why an element is dead whose windows are invalid.
    """

    NAME: ClassVar[str]
    IS_GLOBAL: ClassVar[bool] = False
    MERGES: ClassVar[bool] = False
    MADE_BY_RECORDS: ClassVar[bool] = False
    FOLLOWS_PANES: ClassVar[bool] = False
    REASON: ClassVar[str] = "bad_expression"

    @property
    def depends_on_others(self) -> bool:
        """Whether which windows an element is in depends on the other elements of its key."""
        return self.MERGES or self.MADE_BY_RECORDS

    @property
    def has_slices(self) -> bool:
        """Whether windows can be formed from slices of window time, each of which lies in all of its windows."""
        return False

    @property
    def expressions(self) -> Mapping[str, Expression]:
        """What the windows of an element depend on beside its event time, as expressions over it, by name."""
        return {}

    @property
    def overlap(self) -> str | None:
        """Why a sum over windows may count an element more than once, as a clause; None where it cannot."""
        return "an element may be in several windows"

    def words(self) -> str:
        """How long the windows are, and how they lie in time, as `windrow plan` says it."""
        return f"those that {type(self).__module__}.{type(self).__qualname__} gives to each element"

    @property
    def one_task(self) -> str | None:
        """What one task does for a whole key, in words: a key with half of all rows makes a tick as long as that takes.

        None where tasks combine the rows of a key, each those that it reads, before one of them has what they make.
        """
        return "the windows of a key are merged by one task" if self.MERGES else None

    def windows_over(self, start: int, end: int) -> Iterable[tuple[int, int]]:
        """The bounds of the windows that hold a slice of window time, which no window of the function cuts."""
        return ((start, end),)

    @property
    def expected_length(self) -> int | None:
        """How long the longest window is expected to be, in microseconds, where they merge and the user says so."""
        return None

    @property
    def merges_within(self) -> int | None:
        """How long behind its start a window may become part of another one, in microseconds; 0 where none does.

        None where they merge and nobody says how long the longest is.
        """
        return self.expected_length if self.MERGES else 0

    def check_types(self, kinds: Mapping[str, str]) -> None:
        """Refuse an expression of a type that does not fit. `kinds` are the Spark types, by name. Raises SpecError."""

    def check_keys(self, has_keys: bool) -> None:
        """Refuse what does not go with the keys of the stage, or with none; raise SpecError."""
