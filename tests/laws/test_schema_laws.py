"""Laws of schemas that change: which types hold which others, and that no value is lost, whatever the changes."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import date, datetime
from decimal import Context, Decimal
from itertools import product
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from windrow.spec.errors import SpecError
from windrow.spec.fields.schemas import Schema
from windrow.spec.fields.widening import widens
from windrow.spec.sources.evolution import Landed, resolved
from windrow.spec.sources.files import Files
from windrow.spec.sources.source import Source
from windrow.spec.sources.watermarks import Watermark

WHOLE = {"tinyint": 8, "smallint": 16, "int": 32, "bigint": 64}
DECIMALS = [
    f"decimal({digits},{scale})" for digits in (3, 5, 10, 12, 19, 21, 38) for scale in (0, 2, 4) if scale < digits
]
TYPES = [*WHOLE, "float", "double", "date", "timestamp", "timestamp_ntz", "string", "boolean", *DECIMALS]

EXACT = Context(prec=100)

# ---------------------------------------------------------------- types


def test_no_type_is_wider_than_itself_and_no_two_than_each_other() -> None:
    assert not any(widens(one, other) and widens(other, one) for one, other in product(TYPES, TYPES))


def test_what_holds_what_holds_a_type_holds_it_too() -> None:
    """So a column that was widened twice is read as one that was widened once."""
    for one, other, third in product(TYPES, TYPES, TYPES):
        if widens(one, other) and widens(other, third):
            assert widens(one, third), (one, other, third)


def greatest(kind: str) -> list[Any]:
    """The values of a type at its ends."""
    if kind in WHOLE:
        return [-(2 ** (WHOLE[kind] - 1)), 2 ** (WHOLE[kind] - 1) - 1]
    if kind.startswith("decimal"):
        digits, scale = (int(number) for number in kind[8:-1].split(","))
        most = EXACT.scaleb(Decimal(10**digits - 1), -scale)
        return [most.copy_negate(), most]
    if kind == "float":
        return [3.4028234663852886e38, 2.0**-149, 0.1 + 2**-27]
    return [date.min, date.max] if kind == "date" else []


def as_type(value: Any, kind: str) -> Any:
    """The value as one of a type; an OverflowError where it has none."""
    if kind in WHOLE:
        if not -(2 ** (WHOLE[kind] - 1)) <= value < 2 ** (WHOLE[kind] - 1):
            raise OverflowError(value)
        return int(value)
    if kind.startswith("decimal"):
        digits, scale = (int(number) for number in kind[8:-1].split(","))
        unscaled = EXACT.scaleb(Decimal(value), scale)
        if unscaled.copy_abs() >= 10**digits or unscaled != int(unscaled):
            raise OverflowError(value)
        return Decimal(value)
    if kind == "double":
        return float(value)
    return datetime(value.year, value.month, value.day)


@pytest.mark.parametrize("before", [*WHOLE, "float", "date", *DECIMALS])
def test_a_wider_type_holds_the_values_at_the_ends_of_a_type(before: str) -> None:
    for after in TYPES:
        if widens(before, after):
            for value in greatest(before):
                held = as_type(value, after)
                back = held.date() if before == "date" else held
                assert back == value, (before, after, value)


def test_a_decimal_that_a_type_does_not_fit_is_not_wider() -> None:
    for before, after in product([*WHOLE, *DECIMALS], DECIMALS):
        try:
            fits = all(as_type(value, after) == value for value in greatest(before))
        except OverflowError:
            fits = False
        assert widens(before, after) == (fits and before != after), (before, after)


# ---------------------------------------------------------------- a source whose schema changes again and again

CHAINS = (("tinyint", "smallint", "int", "bigint", "decimal(19,0)", "decimal(38,4)"), ("date", "timestamp"),
          ("int", "double"), ("float", "double"), ("string",))  # fmt: skip
NAMES = ("a", "b", "c", "d")


@dataclass(frozen=True)
class Column:
    """A column as the pipeline file has it: what it is in truth, its name, and how far its type has come."""

    truth: int
    name: str
    chain: int
    width: int = 0

    @property
    def kind(self) -> str:
        return CHAINS[self.chain][self.width]


@dataclass
class Lake:
    """A raw log as it would stand: its columns with their types, and each row as it was written."""

    types: dict[str, str] = field(default_factory=dict)
    moved: dict[str, str] = field(default_factory=dict)
    rows: list[dict[str, Any]] = field(default_factory=list)
    truth: list[dict[int, Any]] = field(default_factory=list)

    def land(self, source: Source, columns: list[Column], value: int) -> None:
        found = resolved(source, Landed(self.types, self.moved))
        before = dict(self.types)
        self.types.update(found.types)
        assert all(self.types[name] == kind for name, kind in before.items()), "no column ever gets another type"
        self.moved = dict(found.moved)
        self.rows.append({found.places[one.name].written: value + one.truth for one in columns})
        self.truth.append({one.truth: value + one.truth for one in columns})

    def read(self, source: Source, columns: list[Column]) -> list[dict[int, Any]]:
        found = resolved(source, Landed(self.types, self.moved))
        return [
            {one.truth: next((row[name] for name in found.places[one.name].names if name in row), None)
             for one in columns}
            for row in self.rows
        ]  # fmt: skip


def source_of(columns: list[Column], rename: dict[str, str]) -> Source:
    schema = Schema([*((one.name, one.kind) for one in columns), ("at", "timestamp")])
    named = {name: of for name, of in rename.items() if of in schema and name not in schema}
    files = Files(path="x", format="parquet")
    return Source("rows", files=files, schema=schema, event_time="now", watermark=Watermark(fixed_lag=0), rename=named)


CHANGES = st.lists(st.tuples(st.sampled_from(("gain", "widen", "rename", "lose", "land", "again")),
                             st.integers(0, 3), st.integers(0, 4)), min_size=1, max_size=25)  # fmt: skip


@given(CHANGES)
def test_every_value_is_read_whatever_changes_follow_each_other(steps: list[tuple[str, int, int]]) -> None:
    """A column that is lost and gained again under its name is the same column; a new one has a new name."""
    lake, columns, rename, used = Lake(), [Column(0, "a", 0)], {}, {"a"}
    for number, (kind, which, what) in enumerate(steps):
        at = which % len(columns) if columns else 0
        if kind == "gain" and len(used) < 20:
            name = f"{NAMES[which]}{number}"
            columns, used = [*columns, Column(number + 1, name, what)], used | {name}
        elif kind == "widen" and columns and columns[at].width + 1 < len(CHAINS[columns[at].chain]):
            columns[at] = replace(columns[at], width=columns[at].width + 1)
        elif kind == "rename" and columns:
            name = f"{NAMES[what % 4]}{number}"
            rename = {**{old: name if of == columns[at].name else of for old, of in rename.items()},
                      columns[at].name: name}  # fmt: skip
            columns[at], used = replace(columns[at], name=name), used | {name}
        elif kind == "lose" and len(columns) > 1:
            columns = [one for index, one in enumerate(columns) if index != at]
        elif kind in ("land", "again"):
            lake.land(source_of(columns, rename), columns, 1000 * number)
        expected = [{one.truth: row.get(one.truth) for one in columns} for row in lake.truth]
        assert lake.read(source_of(columns, rename), columns) == expected


@given(st.integers(0, 4), st.integers(0, 5), st.integers(0, 5))
def test_a_narrower_type_is_refused_and_a_wider_one_is_not(chain: int, first: int, second: int) -> None:
    assume(max(first, second) < len(CHAINS[chain]))
    lake = Lake()
    lake.land(source_of([Column(0, "a", chain, first)], {}), [Column(0, "a", chain, first)], 1)
    later = source_of([Column(0, "a", chain, second)], {})
    if second >= first:
        assert lake.read(later, [Column(0, "a", chain, second)]) == [{0: 1}]
        return
    with pytest.raises(SpecError, match="has landed as"):
        lake.read(later, [Column(0, "a", chain, second)])
