"""Which values of a judgement are hidden."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from windrow.compile.sql.columns import Column, call, lit
from windrow.spec.quality.expectations import Expectation
from windrow.spec.quality.hidden import DIGITS, HIDDEN, hidden, new_secret
from windrow.spec.quality.suites import Suite


@dataclass(frozen=True)
class Masking:
    """The masks of a suite, for one judgement."""

    suite: Suite
    _secret: str = field(default_factory=new_secret, repr=False)

    def column(self, name: str, text: Column) -> Column:
        """The text of a column as it is shown. Null stays null."""
        if name.lower() not in self.suite.mask:
            return text
        digits = call("left", call("sha2", call("concat", lit(self._secret), text), 256), DIGITS)
        return call("concat", lit(HIDDEN), digits)

    def value(self, expectation: Expectation, text: str) -> str:
        """The text of a value of the columns of an expectation as it is shown."""
        if not self.suite.masks(expectation):
            return text
        return hidden(text, self._secret)

    def figure(self, expectation: Expectation, result: Mapping[str, object]) -> str | None:
        """What is shown in place of an observed value; None where it may be seen, or is a number of rows."""
        is_number = any(word in expectation.expect for word in ("count", "proportion"))
        hides = self.suite.masks(expectation) and "element_count" not in result and not is_number
        return HIDDEN if hides else None
