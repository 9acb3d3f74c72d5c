"""The words that a name is made of."""

from __future__ import annotations

import re

_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
"""Of `stationCode`, `user_id` and `ID`."""


def words_of(name: str) -> list[str]:
    """In lower case."""
    return [word.lower() for word in _WORDS.findall(name)]
