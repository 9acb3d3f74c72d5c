"""What a transcript expects against what came out: every row on one side is matched by exactly one on the other.

Rule: the transcripts page. Plain Python over dicts, so that the engine's check and the reference model share it. A row
is a mapping from names to values; all times are microseconds, a window is `(start, end)`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, date, datetime
from decimal import Decimal, InvalidOperation
from typing import Any

from windrow.spec.errors import NotInThisVersion, SpecError
from windrow.spec.times import INFINITY, MINUS_INFINITY, format_time, micros_of, parse_time
from windrow.spec.transcripts.cases import Case, Expected, Step

RELATIVE_TOLERANCE = 1e-9
"""How far floating-point numbers may be apart, relative to the larger one."""

_TIMES = frozenset({"at", "event_time", "watermark", "produced_at"})
_MISSING = object()

Row = Mapping[str, Any]


def match_step(
    step: Step, panes: Sequence[Row], dead: Sequence[Row], unassigned: int, watermark: int, names: Sequence[str] = ()
) -> list[str]:
    """The differences between a step and what its tick gave, as messages; none if it is as expected.

    `watermark` is that after the tick; `names` are the columns (keys, aggregates) to show of a pane, if not all.
    """
    messages = [] if step.expect is None else match_panes(step.expect, panes, names)
    messages += match_dead(step.dead, dead)
    if step.unassigned is not None and step.unassigned != unassigned:
        messages.append(f"unassigned: expected {step.unassigned}, got {unassigned}")
    if step.expect_watermark is not None and step.expect_watermark != watermark:
        messages.append(f"watermark: expected {format_time(step.expect_watermark)}, got {format_time(watermark)}")
    return messages


def match_refusal(case: Case) -> list[str]:
    """What is wrong with how a case was refused, or was not; none if that is as the case says.

    A stage that this version does not build is not a refusal that a case can ask for.
    """
    if case.rejects is None:
        return [] if case.refusal is None else [f"the stage was refused: {case.refusal}"]
    if case.refusal is None:
        return [f'expected the stage to be refused with "{case.rejects}", but it was accepted']
    if isinstance(case.refusal, NotInThisVersion) or case.rejects not in str(case.refusal):
        return [f'expected the stage to be refused with "{case.rejects}"; it was refused with: {case.refusal}']
    return []


def match_panes(expected: Sequence[Expected], actual: Sequence[Row], names: Sequence[str] = ()) -> list[str]:
    """The differences between expected panes and those that came, as messages.

    Only the fields that are written are compared; an expected pane without `change` and `weight` matches only rows of
    weight +1. Every pane must be matched by exactly one expected pane and the other way round.
    """
    wanted = [_with_weight(item.fields) for item in expected]
    return _match("pane", wanted, actual, names)


def match_dead(expected: Sequence[Expected], actual: Sequence[Row]) -> list[str]:
    """The differences between expected dead letters and those that came, as messages; matched like panes."""
    return _match("dead letter", [item.fields for item in expected], actual, ())


def _with_weight(fields: Row) -> Row:
    return fields if "change" in fields or "weight" in fields else {**fields, "weight": 1}


# ---------------------------------------------------------------- pairs


def _match(what: str, wanted: Sequence[Row], actual: Sequence[Row], names: Sequence[str]) -> list[str]:
    pairs = maximum_matching([[_fits(fields, row) for row in actual] for fields in wanted])
    missing = [fields for index, fields in enumerate(wanted) if index not in pairs]
    extra = [row for index, row in enumerate(actual) if index not in pairs.values()]
    return [*_missing(what, missing, extra), *_extra(what, extra, names)]


def _missing(what: str, missing: Sequence[Row], extra: Sequence[Row]) -> Iterator[str]:
    for fields in missing:
        message = f"expected a {what} that did not come: {shown(fields)}"
        nearest = min((_differences(fields, row) for row in extra), key=len, default=[])
        if nearest and len(nearest) < len(fields):
            message += f"\n    the nearest that came has {'; '.join(nearest)}"
        yield message


def _extra(what: str, extra: Sequence[Row], names: Sequence[str]) -> Iterator[str]:
    for row in extra:
        yield f"a {what} came that was not expected: {shown(_brief(row, names))}"


def _brief(row: Row, names: Sequence[str]) -> Row:
    if not names:
        return row
    chosen = (*names, "window", "timing", "index", "change", "weight", "trigger", "is_last")
    return {name: row[name] for name in chosen if name in row}


def _fits(fields: Row, row: Row) -> bool:
    return all(same(value, row.get(name, _MISSING)) for name, value in fields.items())


def _differences(fields: Row, row: Row) -> list[str]:
    return [
        f"{name} {_shown(name, row.get(name))} and not {_shown(name, value)}"
        for name, value in fields.items()
        if not same(value, row.get(name, _MISSING))
    ]


def maximum_matching(fits: Sequence[Sequence[bool]]) -> dict[int, int]:
    """As many pairs (left, right) as possible with `fits[left][right]`, each side used once (augmenting paths)."""
    left_of: dict[int, int] = {}

    def match(left: int, tried: set[int]) -> bool:
        for right, fit in enumerate(fits[left]):
            if fit and right not in tried:
                tried.add(right)
                if right not in left_of or match(left_of[right], tried):
                    left_of[right] = left
                    return True
        return False

    for left in range(len(fits)):
        match(left, set())
    return {left: right for right, left in left_of.items()}


# ---------------------------------------------------------------- values


def same(expected: Any, actual: Any) -> bool:
    """Whether a value is the expected one: floats within 1e-9 relative, all else exactly.

    A list that came is compared as a multiset, a tuple that came in its order.
    """
    if expected is None or actual is None or isinstance(expected, bool) or isinstance(actual, bool):
        return expected is actual
    if isinstance(expected, Mapping) and isinstance(actual, Mapping):
        return expected.keys() == actual.keys() and all(same(expected[name], actual[name]) for name in expected)
    if isinstance(expected, list | tuple) and isinstance(actual, tuple):
        return len(expected) == len(actual) and all(map(same, expected, actual))
    if isinstance(expected, list | tuple) and isinstance(actual, list | tuple):
        return _same_multiset(expected, actual)
    if isinstance(actual, date):
        return _same_moment(expected, actual)
    if isinstance(actual, int | float | Decimal):
        return _same_number(expected, actual)
    return bool(expected == actual)


def _same_multiset(expected: Sequence[Any], actual: Sequence[Any]) -> bool:
    if len(expected) != len(actual):
        return False
    return len(maximum_matching([[same(one, other) for other in actual] for one in expected])) == len(expected)


def _same_number(expected: Any, actual: int | float | Decimal) -> bool:
    if isinstance(expected, str) and isinstance(actual, Decimal):
        try:
            return Decimal(expected) == actual
        except InvalidOperation:
            return False
    if not isinstance(expected, int | float | Decimal):
        return False
    if isinstance(actual, float):
        return _same_float(float(expected), actual)
    return Decimal(str(expected)) == actual


def _same_float(expected: float, actual: float) -> bool:
    if math.isnan(expected) or math.isnan(actual):
        return math.isnan(expected) and math.isnan(actual)
    return math.isclose(expected, actual, rel_tol=RELATIVE_TOLERANCE, abs_tol=0.0)


def _same_moment(expected: Any, actual: date) -> bool:
    if not isinstance(actual, datetime):
        return str(expected) == actual.isoformat()
    if isinstance(expected, bool | list | tuple):
        return False
    try:
        return parse_time(expected) == micros_of(actual if actual.tzinfo else actual.replace(tzinfo=UTC))
    except SpecError:
        return False


# ---------------------------------------------------------------- words


def shown(row: Row) -> str:
    """A row as a person writes it in a transcript: `{k: a, window: [.., ..], total: 5}`."""
    return "{" + ", ".join(f"{name}: {_shown(name, value)}" for name, value in row.items()) + "}"


def _shown(name: str, value: Any) -> str:
    if name == "window" and value is not None:
        start, end = value
        return "global" if (start, end) == (MINUS_INFINITY, INFINITY) else f"[{_time(start)}, {_time(end)}]"
    if name in _TIMES and isinstance(value, int):
        return _time(value)
    if isinstance(value, list | tuple):
        return "[" + ", ".join(_shown("", item) for item in value) + "]"
    if value is None or isinstance(value, bool):
        return "null" if value is None else str(value).lower()
    return str(value)


def _time(micros: int) -> str:
    return f'"{format_time(micros)}"'
