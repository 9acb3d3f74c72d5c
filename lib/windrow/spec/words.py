"""Lengths and numbers as people read them."""

from __future__ import annotations

from windrow.spec.times import DAY, HOUR, MINUTE, format_duration


def length(microseconds: int) -> str:
    """A duration in the largest units that say it exactly: `1h`, `1d 6h`, `90ms`."""
    days, rest = divmod(microseconds, DAY)
    if days and rest:
        return f"{days}d {format_duration(rest)}"
    return format_duration(microseconds)


def in_units(microseconds: int) -> str:
    """A duration in days, hours, minutes and what is left: `5h 39m 1s`."""
    parts, rest = [], microseconds
    for unit in (DAY, HOUR, MINUTE):
        whole, rest = rest - rest % unit, rest % unit
        parts += [format_duration(whole)] if whole else []
    return " ".join([*parts, *([format_duration(rest)] if rest or not parts else [])])


def many(number: int, what: str, plural: str | None = None) -> str:
    """`1 window`, `12,345 windows`."""
    return f"{number:,} {what if number == 1 else plural or what + 's'}"
