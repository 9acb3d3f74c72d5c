"""Refusals as values: which of a list applies, and what its error says."""

from __future__ import annotations

import pytest

from windrow.spec.errors import NotInThisVersion, SpecError
from windrow.spec.stages.refusals import Each, Refusal, Rule, refuse

LETTERS: tuple[Rule[str], ...] = (
    Refusal(lambda one: f"letters.{one}", lambda one: one == "x", "must not be there", hint="y"),
    Refusal("letters", str.isupper, lambda one: f"must be {one.lower()}", got=lambda one: one, error=NotInThisVersion),
)
WORDS: tuple[Rule[str], ...] = (
    Refusal("word", lambda word: not word, "must have letters"),
    Each(lambda word: word, LETTERS),
    Refusal("word", lambda word: len(word) > 3, "must be short", got=len),
)


@pytest.mark.parametrize(
    ("word", "message"),
    [
        ("", "word must have letters"),
        ("axA", "letters.x must not be there. Hint: y"),
        ("aAx", 'letters must be a; got "A"'),
        ("Abcd", 'letters must be a; got "A"'),
        ("abcd", "word must be short; got 4"),
    ],
)
def test_the_first_that_applies_is_raised(word: str, message: str) -> None:
    with pytest.raises(SpecError) as refused:
        refuse(WORDS, word)
    assert str(refused.value) == message
    assert isinstance(refused.value, NotInThisVersion) == ("must be a" in message)


def test_what_no_refusal_applies_to_passes() -> None:
    refuse(WORDS, "abc")
