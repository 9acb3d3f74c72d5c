"""What every window function says of itself. Rule: docs/semantics.md#windows."""

from __future__ import annotations

from collections.abc import Mapping
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

    `MERGES` is true where the windows of a key merge, `MADE_BY_RECORDS` where they depend on its other elements.
    `REASON` is why an element is dead whose windows are none.
    """

    NAME: ClassVar[str]
    IS_GLOBAL: ClassVar[bool] = False
    MERGES: ClassVar[bool] = False
    MADE_BY_RECORDS: ClassVar[bool] = False
    REASON: ClassVar[str] = "bad_expression"

    @property
    def expressions(self) -> Mapping[str, Expression]:
        """What the windows of an element depend on beside its event time, as expressions over it, by name."""
        return {}

    def check_keys(self, has_keys: bool) -> None:
        """Refuse what does not go with the keys of the stage, or with none; raise SpecError."""
