"""Values that nobody is shown: in their place stands a short hash, by which equal ones are still recognised.

The hash has a secret in it that is another one for each judgement and is kept nowhere, so that nobody finds a value by
hashing all that it may be.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field

from windrow.compile.sql.columns import Column, call, lit
from windrow.spec.quality.expectations import Expectation
from windrow.spec.quality.suites import Suite

HIDDEN = "***"
"""What stands in place of a value, or in front of its hash."""
_DIGITS = 8


@dataclass(frozen=True)
class Masking:
    """The masks of a suite, for one judgement."""

    suite: Suite
    _secret: str = field(default_factory=lambda: secrets.token_hex(16), repr=False)

    def column(self, name: str, text: Column) -> Column:
        """The text of a column as it is shown. Null stays null."""
        if name.lower() not in self.suite.mask:
            return text
        digits = call("left", call("sha2", call("concat", lit(self._secret), text), 256), _DIGITS)
        return call("concat", lit(HIDDEN), digits)

    def value(self, expectation: Expectation, text: str) -> str:
        """The text of a value of the columns of an expectation as it is shown."""
        if not self.suite.masks(expectation):
            return text
        return HIDDEN + hashlib.sha256((self._secret + text).encode()).hexdigest()[:_DIGITS]

    def figure(self, expectation: Expectation, result: Mapping[str, object]) -> str | None:
        """What is shown in place of an observed value; None where it may be seen, or is a number of rows."""
        is_number = any(word in expectation.expect for word in ("count", "proportion"))
        hides = self.suite.masks(expectation) and "element_count" not in result and not is_number
        return HIDDEN if hides else None
