"""What is shown in place of a value that nobody is to see: a short hash, by which equal ones are still recognised.

The hash has a secret in it that is another one for each judgement and page, and is kept nowhere, so that nobody finds a
value by hashing all that it may be.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Collection, Mapping
from typing import Any

HIDDEN = "***"
"""What stands in place of a value, or in front of its hash."""
DIGITS = 8


def new_secret() -> str:
    """The secret of one judgement or page."""
    return secrets.token_hex(16)


def hidden(text: str, secret: str) -> str:
    """The hash of a text."""
    return HIDDEN + hashlib.sha256((secret + text).encode()).hexdigest()[:DIGITS]


def without_values(names: Collection[str], values: Any, secret: str) -> Any:
    """Values by column, in which those of some columns, in lower case, are hidden, also in rows within. Null stays."""
    if isinstance(values, Mapping):
        return {
            name: hidden(str(value), secret)
            if name.lower() in names and value is not None
            else without_values(names, value, secret)
            for name, value in values.items()
        }
    if isinstance(values, (list, tuple)):
        return [without_values(names, value, secret) for value in values]
    return values
