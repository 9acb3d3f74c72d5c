"""Constraints: what no pane of a stage may break. The job that writes a tick checks them, and then writes nothing.

A CHECK of Delta would be part of the table: it would have to hold for all that is there, and would stay when the suite
says something else.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from pyspark.sql import DataFrame

from windrow.compile.elements.row_rules import is_broken
from windrow.compile.panes.log_rows import PANE
from windrow.compile.sql.columns import Column, call, case, col
from windrow.engine.frames import where
from windrow.spec.errors import GATE_STOPPED, WindrowError
from windrow.spec.quality.expectations import Expectation
from windrow.spec.quality.suites import Suite
from windrow.spec.stages.keys import LogColumn

_BROKEN = "WindrowConstraint"


class ConstraintBroken(WindrowError):
    """A pane that was to be written breaks a constraint of its stage. Nothing of its tick was written."""

    step_code = GATE_STOPPED

    def __init__(self, stage: str, expectation: Expectation) -> None:
        super().__init__(
            f"stages.{stage}: a result breaks the constraint {expectation}, and nothing of its tick was kept"
        )

    @property
    def in_words(self) -> str:
        hint = "a backfill without `constraint: true` stops at its gate and names the results; or quarantine their rows"
        return f"{self}. Hint: {hint}"


@dataclass(frozen=True)
class Constraints:
    """Those of one stage, by their order in its suite."""

    stage: str
    expectations: Sequence[Expectation] = ()

    def over(self, rows: DataFrame) -> DataFrame:
        """The rows of a tick for its journal, which cannot be read where a pane among them breaks a constraint.

        A retraction says what was shown before, whatever that is.
        """
        if not self.expectations:
            return rows
        kinds = {field.name: field.dataType.simpleString() for field in rows.schema.fields}
        is_new = (col(LogColumn.KIND) == PANE) & col(LogColumn.RETRACTION).is_null()
        breaks = [(is_new & is_broken([one], kinds), _error(index)) for index, one in enumerate(self.expectations)]
        return where(rows, case(*breaks, otherwise=True))

    @contextmanager
    def checked(self) -> Iterator[None]:
        """Such rows are read within. Raises ConstraintBroken."""
        try:
            yield
        except Exception as error:
            found = re.search(rf"{_BROKEN} (\d+)", str(error)) if self.expectations else None
            if found is None:
                raise
            raise ConstraintBroken(self.stage, self.expectations[int(found[1])]) from error


def constraints_of(stage: str, suites: Mapping[str, Suite]) -> Constraints:
    """Those that the suite of a stage says; none without one."""
    suite = suites.get(stage)
    return Constraints(stage, () if suite is None else suite.constraints)


def _error(index: int) -> Column:
    return call("raise_error", f"{_BROKEN} {index}").cast("boolean")
