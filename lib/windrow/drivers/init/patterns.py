"""Times that are written as people of some country write them: which pattern reads a column of texts.

Rule: docs/first-pipeline.md#what-is-guessed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from windrow.spec.sources.time_columns import TimePattern
from windrow.spec.times import micros_of

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_TIME = re.compile(
    r"(?P<one>\d{1,4})(?P<sign>[./ -])(?P<two>\d{1,2}|[A-Za-z]{3})(?P=sign)(?P<three>\d{1,4})"
    r"(?:(?P<between>, | |T)(?P<hour>\d{1,2}):(?P<minute>\d{2})(?::(?P<second>\d{2})(?P<fraction>\.\d{1,9})?)?"
    r"(?: (?P<half>[AaPp][Mm]))?)?"
)
DATE = r"\d{1,4}(?P<mark>[./-])(\d{1,2}|[A-Za-z]{3})(?P=mark)\d{1,4}\b"
"""How such a time begins."""
_FEW = 1000
"""Values by which the order of day and month is found where the numbers do not tell."""

_Found = re.Match[str]


@dataclass(frozen=True)
class Written:
    """The pattern of a column's times, and those in microseconds; null for a text that it does not read.

    Without an offset times are taken to be UTC. `doubt` says what may be otherwise, or nothing.
    """

    pattern: TimePattern
    micros: Sequence[int | None]
    doubt: str


def written(texts: Sequence[str | None], often: float) -> Written | None:
    """How a column writes its times; None where no pattern reads so large a part of the texts that are there."""
    found = [None if text is None else _TIME.fullmatch(text) for text in texts]
    known = [one for one in found if one is not None]
    if not known:
        return None
    first = known[0]
    alike = [one for one in known if _shape(one) == _shape(first)]
    if len(alike) < often * sum(text is not None for text in texts):
        return None
    order, doubt = _order(alike)
    if order is None:
        return None
    pattern = TimePattern(_pattern(alike, order))
    micros = [None if one is None or _shape(one) != _shape(first) else _micros(one, order) for one in found]
    is_read = sum(at is not None for at in micros) >= often * sum(text is not None for text in texts)
    return Written(pattern, micros, doubt) if is_read else None


def _shape(one: _Found) -> tuple[object, ...]:
    """What all times of a column have in common."""
    year = len(one["one"]) > 2, len(one["three"])
    return one["sign"], one["between"], one["two"].isdigit(), year, one["half"] is None, one["hour"] is None


def _order(alike: Sequence[_Found]) -> tuple[str | None, str]:
    """Which of the three numbers is the year, the month and the day, and a doubt; None where they are no day."""
    first = alike[0]
    if len(first["one"]) == 4:
        return ("yMd", "") if len(first["three"]) <= 2 else (None, "")
    if len(first["one"]) > 2 or len(first["three"]) not in (2, 4):
        return None, ""
    if not first["two"].isdigit() or first["sign"] == ".":
        return "dMy", ""
    no_months = [sum(int(one[name]) > 12 for one in alike) for name in ("one", "two")]
    if no_months[0] != no_months[1]:
        return ("dMy" if no_months[0] > no_months[1] else "Mdy"), ""
    likely = min(("dMy", "Mdy"), key=lambda order: _span(alike[:_FEW], order))
    if first["half"] is not None:
        likely = "Mdy"
    names = {"d": "day", "M": "month"}
    return likely, f"{names[likely[0]]} before {names[likely[1]]} is a guess: the numbers do not tell"


def _span(alike: Sequence[_Found], order: str) -> int:
    known = [at for one in alike if (at := _micros(one, order)) is not None]
    return max(known) - min(known) if known else 1 << 63


def _pattern(alike: Sequence[_Found], order: str) -> str:
    def widths(name: str, letter: str) -> str:
        """One letter reads one digit and two; it is doubled where the texts are."""
        values = [one[name] for one in alike]
        two = all(len(value) == 2 for value in values) and any(value[0] == "0" for value in values)
        return letter * 2 if two else letter

    def date(name: str, letter: str) -> str:
        if letter == "y":
            return "y" * len(alike[0][name])
        return widths(name, letter) if alike[0][name].isdigit() else "MMM"

    first = alike[0]
    days = [date(name, letter) for name, letter in zip(("one", "two", "three"), order, strict=True)]
    text = first["sign"].join(days)
    if first["hour"] is None:
        return text
    between = "'T'" if first["between"] == "T" else first["between"]
    text += f"{between}{widths('hour', 'H' if first['half'] is None else 'h')}:mm"
    text += _part(alike, "second", f":ss{_part(alike, 'fraction', _fraction(alike))}")
    return text if first["half"] is None else f"{text} a"


def _fraction(alike: Sequence[_Found]) -> str:
    """As many digits as the longest has."""
    return f".{'S' * max(len(one['fraction'] or '.') - 1 for one in alike)}"


def _part(alike: Sequence[_Found], name: str, pattern: str) -> str:
    """The pattern of a part that all of them have, that may be missing, or that none has."""
    number = sum(one[name] is not None for one in alike)
    return "" if not number else pattern if number == len(alike) else f"[{pattern}]"


def _micros(one: _Found, order: str) -> int | None:
    """The time in microseconds, in UTC; None for what is no time."""
    parts = dict(zip(order, (one["one"], one["two"], one["three"]), strict=True))
    year, hour, half = int(parts["y"]), int(one["hour"] or 0), (one["half"] or "").lower()
    if half and not 1 <= hour <= 12:
        return None
    hour = hour % 12 + (12 if half == "pm" else 0) if half else hour
    month = parts["M"].lower()
    if not month.isdigit() and month not in _MONTHS:
        return None
    number = int(month) if month.isdigit() else _MONTHS.index(month) + 1
    fraction = int((one["fraction"] or ".0")[1:].ljust(6, "0")[:6])
    try:
        moment = datetime(year + 2000 if len(parts["y"]) == 2 else year, number, int(parts["d"]), hour,
                          int(one["minute"] or 0), int(one["second"] or 0), fraction, tzinfo=UTC)  # fmt: skip
    except ValueError:
        return None
    return micros_of(moment)
