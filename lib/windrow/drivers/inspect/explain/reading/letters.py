"""The dead letters of a stage in the time of a window, and which element each is of."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from windrow.compile.elements.envelope import ARRIVAL_TIME, OFFSET
from windrow.drivers.inspect.explain.question import Bounds
from windrow.drivers.inspect.explain.reading.elements import MASK, Member
from windrow.drivers.inspect.explain.reading.rows import Row, between, bounds_of
from windrow.store.reading.tables import Condition, LakeTable
from windrow.view.explain.life import IN_RESULT
from windrow.view.text.times import moment

_OF_PAIRS = ("late", "closed")
"""The reasons that are about a pair of element and window."""
_COLUMNS = ("reason", "rule", "event_time", "window_start", "window_end", "element", "source", "offset", "arrived_at",
            "tick", "restated_by")  # fmt: skip


def letters_of(table: LakeTable | None, until: int, times: Bounds) -> list[Row]:
    """The dead letters of a stage up to a tick whose event time lies in an interval."""
    if table is None:
        return []
    batches = table.rows(_COLUMNS, *between("event_time", times), Condition("tick", "<=", until))
    rows = [row for batch in batches for row in batch.to_pylist()]
    return [row if (row["restated_by"] or 0) <= until else {**row, "restated_by": None} for row in rows]


@dataclass(frozen=True)
class Told:
    """Members with their dead letters, by their numbers, and in words what the two say differently."""

    members: Sequence[Member]
    letters: dict[int, Row]
    differences: Sequence[str]


def told(
    members: Sequence[Member], letters: Sequence[Row], window: Bounds | None, by_letters: bool, of_pairs: bool
) -> Told:
    """Which letter is of which member. `by_letters`: they alone say which elements were late.

    `of_pairs`: there is a letter for each late pair of element and window.
    """
    left = [letter for letter in letters if by_letters or _concerns(letter, window)]
    found: dict[int, Row] = {}
    after: list[Member] = []
    differences: list[str] = []
    for number, member in enumerate(members):
        letter = _taken(left, member)
        if letter is not None:
            found[number] = letter
        placed, words = _placed(member, letter, by_letters, of_pairs)
        after.append(placed)
        differences += words
    return Told(after, found, differences)


def _concerns(letter: Row, window: Bounds | None) -> bool:
    return letter["reason"] not in _OF_PAIRS or window is None or bounds_of(letter) == window


def _placed(member: Member, letter: Row | None, by_letters: bool, of_pairs: bool) -> tuple[Member, list[str]]:
    """A member in the place that its letter says, and what the rows say otherwise."""
    if member.control is None:
        return member, []
    at = f"the element of {moment(member.judged.event_time)} that tick {member.control.tick} read"
    if letter is None:
        is_expected = member.place == "bad_expression" or (member.place == "late" and of_pairs)
        return member, [f"{at} is dead ({member.place}) by the rows, and has no dead letter"] if is_expected else []
    reason = letter["reason"]
    if member.place == reason or not member.is_element:
        return replace(member, place=reason), []
    if reason == "closed" or by_letters or member.place != IN_RESULT:
        return replace(member, place=reason), []
    return replace(member, place=reason), [f"{at} is a dead letter ({reason}), and came in time by the rows"]


def _taken(letters: list[Row], member: Member) -> Row | None:
    """The letter of a member, which is then no other's: the one with the same columns, where several may be."""
    if member.control is None:
        return None
    row, tick = member.judged.row, member.control.tick
    same = [
        letter
        for letter in letters
        if letter["tick"] == tick
        and letter["source"] == member.source
        and letter["offset"] == row[OFFSET]
        and letter["arrived_at"] == row[ARRIVAL_TIME]
        and (member.judged.event_time is None or letter["event_time"] == member.judged.event_time)
    ]
    alike = [letter for letter in same if _has(letter, row)]
    if alike:
        letters.remove(alike[0])
        return alike[0]
    return None


def _has(letter: Row, row: Row) -> bool:
    """Whether the columns of a row are those of a letter, as far as JSON writes them as they are."""
    try:
        element: Any = json.loads(letter["element"] or "{}")
    except ValueError:
        return False
    plain = {name: value for name, value in element.items() if isinstance(value, str | int) and name in row}
    return all(
        row[name] == value for name, value in plain.items() if value != MASK and isinstance(row[name], type(value))
    )
