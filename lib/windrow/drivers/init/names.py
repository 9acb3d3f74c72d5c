"""The names of the columns of a CSV file, as a pipeline may have them."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from pathlib import Path

from windrow.spec.errors import SpecError

_IS_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
YAML_WORDS = frozenset({"true", "false", "null", "yes", "no", "on", "off"})
"""What YAML or SQL take for something else."""
_LETTERS = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "Ä": "Ae", "Ö": "Oe", "Ü": "Ue", "ß": "ss"})


def check_unlike(path: Path, headers: Sequence[str]) -> None:
    """A column is read by the name in the header, whatever its case. Errors: SpecError."""
    seen: set[str] = set()
    for header in filter(None, headers):
        if header.lower() in seen:
            raise SpecError(f"{path}:", "must have a name of its own for each column", header, "change the first line")
        seen.add(header.lower())


def named(headers: Sequence[str]) -> list[str]:
    """Names of letters, digits and `_`, unlike each other whatever their case; a header that is one stays as it is."""
    taken = {header.lower() for header in headers if _may_stay(header)}
    return [header if _may_stay(header) else _name_for(header, taken) for header in headers]


def _may_stay(header: str) -> bool:
    return _IS_NAME.fullmatch(header) is not None and header.lower() not in YAML_WORDS


def _name_for(header: str, taken: set[str]) -> str:
    """A name that is like the header and is not taken; it is from then on."""
    letters = unicodedata.normalize("NFKD", header.translate(_LETTERS)).encode("ascii", "ignore").decode()
    plain = re.sub(r"[^A-Za-z0-9]+", "_", letters).strip("_") or "column"
    plain = f"column_{plain}" if plain[0].isdigit() or plain.lower() in YAML_WORDS else plain
    name, number = plain, 2
    while name.lower() in taken:
        name, number = f"{plain}_{number}", number + 1
    taken.add(name.lower())
    return name
