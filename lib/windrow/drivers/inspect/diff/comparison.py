"""Two sides joined by key and window, as the SQL that DataFusion and Spark have in common."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from windrow.compile.panes.results import TOLERANCE
from windrow.drivers.inspect.diff.sides import Side, quoted
from windrow.spec.times import format_time
from windrow.store.reading.tables import Kind

HERE, THERE = "here", "there"


@dataclass(frozen=True)
class Value:
    """A column that is compared."""

    name: str
    kind: Kind

    @property
    def is_number(self) -> bool:
        return self.kind in ("floating", "number")


@dataclass(frozen=True)
class Comparison:
    """`identity` are the columns of a key and window, or of a pane or row of it, `values` those that are compared.

    Windows that start in [start, end) are, in microseconds; without a bound all are.
    """

    here: Side
    there: Side
    quote: str
    identity: Sequence[str]
    values: Sequence[Value]
    start: int | None = None
    end: int | None = None

    def summary(self) -> str:
        """One row: how many windows there are, on one side only, and different; of each value how many, how much."""
        numbers = {
            "windows": "TRUE", "only_here": self._only(HERE), "only_there": self._only(THERE),
            "different": f"{_BOTH} AND ({self._any_differs})",
        }  # fmt: skip
        counts = [f"COUNT(CASE WHEN {holds} THEN 1 END) AS {name}" for name, holds in numbers.items()]
        for index, value in enumerate(self.values):
            counts.append(f"COUNT(CASE WHEN {_BOTH} AND {_differs(index, value)} THEN 1 END) AS number_{index}")
            apart = f"ABS(h.v{index} - t.v{index})" if value.is_number else "NULL"
            counts.append(f"MAX({apart}) AS greatest_{index}")
        return f"SELECT {', '.join(counts)} FROM {self._joined}"

    def first(self, limit: int) -> str:
        """The first windows on which the sides differ: `i0`, ... of the identity, and `h0`, `t0`, ... of the values."""
        identity = [f"COALESCE(h.i{index}, t.i{index}) AS i{index}" for index in range(len(self.identity))]
        values = [f"{side}.v{i} AS {side}{i}" for side in ("h", "t") for i in range(len(self.values))]
        columns = [*identity, "h.is_there AS is_here", "t.is_there AS is_there", *values]
        differ = f"{self._only(HERE)} OR {self._only(THERE)} OR {self._any_differs}"
        keys = len(self.identity)
        bounds = [self.identity.index(name) for name in ("window_start", "window_end")]
        order = [*bounds, *(index for index in range(keys) if index not in bounds)]
        return (
            f"SELECT * FROM (SELECT {', '.join(columns)} FROM {self._joined} WHERE {differ}) d "
            f"ORDER BY {', '.join(f'i{index} NULLS FIRST' for index in order)} LIMIT {limit}"
        )

    def _only(self, side: str) -> str:
        return f"({'t' if side == HERE else 'h'}.is_there IS NULL)"

    @property
    def _any_differs(self) -> str:
        return " OR ".join(_differs(index, value) for index, value in enumerate(self.values)) or "FALSE"

    @property
    def _joined(self) -> str:
        same = " AND ".join(f"(h.i{index} IS NOT DISTINCT FROM t.i{index})" for index in range(len(self.identity)))
        return f"({self._rows(self.here)}) h FULL OUTER JOIN ({self._rows(self.there)}) t ON {same}"

    def _rows(self, side: Side) -> str:
        columns = [f"{quoted(self.quote, name)} AS i{index}" for index, name in enumerate(self.identity)]
        columns += [f"{quoted(self.quote, value.name)} AS v{index}" for index, value in enumerate(self.values)]
        bounds = ((">=", self.start), ("<", self.end))
        spans = [f"window_start {sign} TIMESTAMP '{format_time(time)}'" for sign, time in bounds if time is not None]
        where = f" WHERE {' AND '.join(spans)}" if spans else ""
        return f"SELECT {', '.join(columns)}, TRUE AS is_there FROM {side.relation}{where}"


_BOTH = "h.is_there AND t.is_there"


def _differs(index: int, value: Value) -> str:
    """Floating-point numbers differ from `TOLERANCE` on, as for `reconcile`."""
    here, there = f"h.v{index}", f"t.v{index}"
    if value.kind != "floating":
        return f"({here} IS DISTINCT FROM {there})"
    close = f"ABS({here} - {there}) <= GREATEST(ABS({here}), ABS({there})) * {TOLERANCE:.9f}"
    return f"(NOT COALESCE(({here} IS NOT DISTINCT FROM {there}) OR {close}, FALSE))"
