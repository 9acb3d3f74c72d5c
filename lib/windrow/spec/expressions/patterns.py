"""Constant arguments that Spark reads when it runs: patterns and formats that could fail there are refused here.

A regular expression is one that Java and Python read alike. A group may not be repeated: Java overflows its stack on a
long text, or takes exponential time.
"""

from __future__ import annotations

import re

from windrow.spec.errors import SpecError

_REGEX_TOKEN = re.compile(
    r"""(?P<escape>\\[dDwWsSbB.\\^$|?*+()\[\]{}/nrt-])
    | (?P<set>\[\^?(?:[^\[\]\\&^]|&(?!&)|\\[dDwWsS.\\^$|?*+()\[\]{}/nrt-])+\])
    | (?P<open>\((?:\?:)?)
    | (?P<close>\))
    | (?P<repeat>(?:[*+?]|\{[0-9]{1,3}(?:,[0-9]{0,3})?\})\??)
    | (?P<plain>[^\\\[\](){}*+?])""",
    re.VERBOSE | re.DOTALL,
)
_FORMAT_TOKEN = re.compile(r"'[A-Za-z ]+'|([A-Za-z])\1*|.", re.DOTALL)
_PARSED = frozenset(
    ["yy", "yyyy", "M", "MM", "MMM", "MMMM", "d", "dd", "H", "HH", "h", "hh", "m", "mm", "s", "ss", "a"]
) | {*("S" * digits for digits in range(1, 10)), "X", "XX", "XXX", "Z"}
_WRITTEN = _PARSED | {"y", "yyy", "D", "DD", "DDD", "E", "EE", "EEE", "EEEE"}


def check_like(pattern: str) -> None:
    """The pattern of `like`: a backslash stands before `%`, `_` or another backslash only."""
    if re.search(r"\\", re.sub(r"\\[%_\\]", "", pattern)):
        hint = "it stands before %, _ or another backslash, written \\\\%"
        raise SpecError("", "has a backslash in a `like` pattern that escapes nothing", hint=hint)


def check_regex(pattern: str) -> int:
    """The pattern of `rlike`, `split` and the `regexp_` functions. Gives the number of its groups that are captured."""
    before, position, body = "", 0, pattern.removeprefix("(?i)")
    while position < len(body):
        token = _REGEX_TOKEN.match(body, position)
        if token is None:
            raise _bad_regex(f"cannot be read at {body[position:][:20]!a}")
        if token.lastgroup == "repeat" and before in ("", "open", "repeat"):
            raise _bad_regex(f"cannot be read at {body[position:][:20]!a}")
        if token.lastgroup == "repeat" and before == "close" and token.group() != "?":
            raise _bad_regex("repeats a group")
        before, position = token.lastgroup or "", token.end()
    try:
        return re.compile(body).groups
    except (re.error, OverflowError) as error:
        raise _bad_regex(f"cannot be read: {error}") from None


def _bad_regex(reason: str) -> SpecError:
    hint = "sets, groups, alternatives and repeated characters are supported; no repeated groups, no look-around"
    return SpecError("", f"has a regular expression that {reason}", hint=hint)


def check_replacement(replacement: str, groups: int) -> None:
    """What `regexp_replace` puts in: `$1` is a group of the pattern; no backslash."""
    if not re.fullmatch(r"([^$\\]|\$[0-9])*", replacement, re.DOTALL):
        raise SpecError("", "has a replacement with a bare $ or a backslash", hint="$1 is the first group")
    if any(int(group) > groups for group in re.findall(r"\$([0-9])", replacement)):
        raise SpecError("", f"has a replacement with a group that the pattern lacks; it has {groups}")


def check_parsed_format(pattern: str) -> None:
    """The format of `to_date` and `to_timestamp`."""
    _check_format(_PARSED, pattern)


def check_written_format(pattern: str) -> None:
    """The format of `date_format`."""
    _check_format(_WRITTEN, pattern)


def _check_format(fields: frozenset[str], pattern: str) -> None:
    for token in _FORMAT_TOKEN.finditer(pattern):
        text = token.group()
        is_quoted = text.startswith("'") and len(text) > 1
        if text not in fields and text not in "-/:., _" and not is_quoted:
            hint = "for instance yyyy-MM-dd HH:mm:ss.SSS or yyyy-MM-dd'T'HH:mm:ssXXX"
            raise SpecError("", f"has a time format that cannot be read at {text!a}", hint=hint)
