"""How transcripts compare what came with what was expected: one to one, and in words that a person can read."""

from __future__ import annotations

import math
from datetime import UTC, date, datetime
from decimal import Decimal
from itertools import permutations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from windrow.spec.errors import NotInThisVersion, SpecError
from windrow.spec.fields.reading import Named
from windrow.spec.fields.schemas import Schema
from windrow.spec.times import INFINITY, MINUS_INFINITY, SECOND
from windrow.spec.transcripts.cases import Case
from windrow.spec.transcripts.steps import Expected, Step
from windrow.testing.matching import match_dead, match_panes, match_refusal, match_step, maximum_matching, same

WINDOW = (0, 10 * SECOND)


def expected(**fields: Any) -> Expected:
    return Expected(Named(fields))


def pane(**fields: Any) -> dict[str, Any]:
    return {"k": "a", "window": WINDOW, "total": 5, "change": "insert", "weight": 1, "index": 0, **fields}


def test_only_the_fields_that_are_written_are_compared() -> None:
    assert match_panes([expected(k="a")], [pane()]) == []
    assert match_panes([expected(k="a", window=WINDOW, total=5, index=0, change="insert")], [pane()]) == []


def test_a_field_that_is_null_is_compared() -> None:
    assert match_panes([expected(total=None)], [pane(total=None)]) == []
    assert match_panes([expected(total=None)], [pane()]) != []
    assert match_panes([expected(total=5)], [pane(total=None)]) != []


def test_every_pane_is_matched_once() -> None:
    assert len(match_panes([expected(k="a")], [pane(), pane()])) == 1
    assert len(match_panes([expected(k="a"), expected(k="a")], [pane()])) == 1
    assert match_panes([], []) == []


def test_the_match_is_the_best_there_is_and_not_the_first() -> None:
    """The vague one would take the only pane that fits the exact one."""
    vague, exact = expected(k="a"), expected(k="a", total=5)
    for order in permutations([vague, exact]):
        assert match_panes(order, [pane(), pane(total=6)]) == []


def test_retracted_rows_must_be_listed() -> None:
    retracted = pane(change="update_preimage", weight=-1)
    assert len(match_panes([expected(k="a")], [retracted])) == 2
    assert len(match_panes([], [retracted])) == 1
    assert match_panes([expected(change="update_preimage")], [retracted]) == []
    assert match_panes([expected(weight=-1)], [retracted]) == []


def test_the_messages_say_what_differs() -> None:
    messages = match_panes([expected(k="a", window=WINDOW, total=7)], [pane()], names=["k", "total"])
    assert messages == [
        'expected a pane that did not come: {k: a, window: ["1970-01-01T00:00:00Z", "1970-01-01T00:00:10Z"], total: 7,'
        " weight: 1}\n    the nearest that came has total 5 and not 7",
        'a pane came that was not expected: {k: a, total: 5, window: ["1970-01-01T00:00:00Z", "1970-01-01T00:00:10Z"],'
        " index: 0, change: insert, weight: 1}",
    ]


def test_words_for_all_of_time_and_nothing() -> None:
    (message,) = match_panes([], [{"window": (MINUS_INFINITY, INFINITY), "k": None, "late": True, "event_time": 0}])
    assert message.endswith('{window: global, k: null, late: true, event_time: "1970-01-01T00:00:00Z"}')


def test_dead_letters() -> None:
    letters = [
        {"v": 1, "at": None, "partition": None, "window": None, "reason": "bad_timestamp"},
        {"v": 2, "at": 3 * SECOND, "partition": "p0", "window": WINDOW, "reason": "late"},
    ]
    assert match_dead([expected(reason="late", window=WINDOW, at=3 * SECOND), expected(at=None)], letters) == []
    (missing,) = match_dead([], letters[:1])
    assert missing.startswith("a dead letter came that was not expected: {v: 1, at: null")
    assert len(match_dead([expected(reason="closed")], [])) == 1


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (1, 1), (1, 1.0), (0.0, -0.0), (0.3, 0.1 + 0.2), (1e300, 1e300 * (1 + 1e-12)), (math.nan, math.nan),
        (math.inf, math.inf), (2.5, Decimal("2.50")), ("2.5", Decimal("2.50")), (3, Decimal(3)), (True, True),
        (None, None), ("a", "a"), ([1, 2, 1], [1, 1, 2]), ([], []), ([0.3], [0.1 + 0.2]), ([1, None], [None, 1]),
        ((0, 1), (0, 1)), ("2000-01-01", date(2000, 1, 1)),
        ("2000-01-01T12:00:00Z", datetime(2000, 1, 1, 12, tzinfo=UTC)),
        ("12:00", datetime(2000, 1, 1, 12)), (1, datetime(1970, 1, 1, 0, 0, 1)), (Decimal("0.10"), Decimal("0.1")),
    ],
    ids=range(23),
)  # fmt: skip
def test_values_that_are_the_same(one: Any, other: Any) -> None:
    assert same(one, other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (1, 2), (1, True), (True, 1), (0, None), (None, 0), ("1", 1), (1, "1"), (0.3, 0.300001), (1, 1.001),
        (0.1, Decimal("0.11")),
        (0.1, Decimal("0.1000000000001")), (math.nan, 1.0), (1.0, math.nan), (math.inf, -math.inf), ([1, 1], [1, 2]),
        ([1], [1, 1]),
        ([1], 1), ((0, 1), (1, 0)), ("2000-01-02", date(2000, 1, 1)), ("noon", datetime(2000, 1, 1, 12)),
        ("x", Decimal(1)),
        ([1], datetime(2000, 1, 1)), (2**62, 2**62 + 1), (1e-300, 0.0),
    ],
    ids=range(24),
)  # fmt: skip
def test_values_that_differ(one: Any, other: Any) -> None:
    assert not same(one, other)


@given(st.lists(st.lists(st.booleans(), min_size=4, max_size=4), max_size=4))
def test_no_other_choice_of_pairs_is_larger(fits: list[list[bool]]) -> None:
    pairs = maximum_matching(fits)
    assert all(fits[left][right] for left, right in pairs.items())
    assert len(set(pairs.values())) == len(pairs)
    best = max(
        sum(fits[left][right] for left, right in enumerate(order[: len(fits)])) for order in permutations(range(4))
    )
    assert len(pairs) == best


def test_a_step_compares_counts_and_watermarks_where_they_are_written() -> None:
    step = Step(add=(), watermark=None, now=None, expect=None, dead=(), unassigned=None, expect_watermark=None)
    assert match_step(step, [pane()], [], 3, 5) == []
    strict = Step((), None, None, (), (), unassigned=2, expect_watermark=0)
    assert match_step(strict, [], [], 3, SECOND) == [
        "unassigned: expected 2, got 3",
        "watermark: expected 1970-01-01T00:00:00Z, got 1970-01-01T00:00:01Z",
    ]


@pytest.mark.parametrize(
    ("rejects", "refusal", "passes"),
    [
        ("size", SpecError("stage.size", "must be positive"), True),
        ("size", SpecError("stage.keys", "must be a list"), False),
        ("size", NotInThisVersion.named("stage.size"), False),
        ("size", None, False),
        (None, SpecError("stage.size", "must be positive"), False),
        (None, None, True),
    ],
    ids=range(6),
)
def test_a_refusal(rejects: str | None, refusal: SpecError | None, passes: bool) -> None:
    case = Case("c", "", Schema({}), (), None, (), rejects, refusal)
    assert (match_refusal(case) == []) is passes
