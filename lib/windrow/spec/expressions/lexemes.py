"""The words and signs of an expression, by Spark's rules, and nothing else: no comment, parameter, hint or `${..}`.

sqlglot reads escapes, suffixes and comments of many dialects; here a closed set of lexemes is read, so that it sees
none of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum, auto

from windrow.spec.errors import SpecError
from windrow.spec.expressions.constants import interval, number, string, typed_time
from windrow.spec.expressions.tree import Literal


class Kind(Enum):
    """What a lexeme is to the grammar."""

    SIGN = auto()
    KEYWORD = auto()
    NAME = auto()
    FUNCTION = auto()
    TYPE = auto()
    LITERAL = auto()


@dataclass(frozen=True)
class Lexeme:
    """One lexeme: `value` is its canonical text (a name without quotes), `source` what the user wrote."""

    kind: Kind
    value: str
    source: str
    literal: Literal | None = None

    def is_any(self, *values: str) -> bool:
        """Whether it is one of these signs or keywords."""
        return self.kind in (Kind.SIGN, Kind.KEYWORD) and self.value in values


@dataclass(frozen=True)
class _Raw:
    group: str
    source: str


_LEXEME = re.compile(
    r"""(?P<space>[ \t\r\n]+)
    | (?P<string>'(?:[^'\\]|\\.|'')*' | "(?:[^"\\]|\\.|"")*")
    | (?P<quoted>`(?:[^`]|``)+`)
    | (?P<number>(?:[0-9]+(?:\.[0-9]+)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?(?![A-Za-z0-9_.]))
    | (?P<word>[A-Za-z_][A-Za-z0-9_]*)
    | (?P<foreign>--|/\*|\*/|->|=>|<<|>>)
    | (?P<sign><=>|<=|>=|<>|!=|==|\|\||::|[-+*/%=<>!&|^~()\[\],.])""",
    re.VERBOSE | re.DOTALL,
)
_KEYWORDS = frozenset(
    ["and", "or", "not", "in", "is", "null", "true", "false", "between", "like", "ilike", "rlike", "regexp"]
) | {"case", "when", "then", "else", "end", "as", "div"}
_ALSO_FUNCTIONS = frozenset(["like", "ilike", "rlike", "regexp"])
_SAME = {"==": "=", "!=": "<>", "!": "not", "regexp": "rlike"}
_TYPES = {
    "boolean": "boolean", "tinyint": "tinyint", "byte": "tinyint", "smallint": "smallint", "short": "smallint",
    "int": "int", "integer": "int", "bigint": "bigint", "long": "bigint", "float": "float", "real": "float",
    "double": "double", "decimal": "decimal", "dec": "decimal", "numeric": "decimal", "string": "string",
    "date": "date", "timestamp": "timestamp",
}  # fmt: skip
_READ_THE_SESSION = frozenset(
    ["current_catalog", "current_database", "current_date", "current_schema", "current_time", "current_timestamp"]
) | {"_metadata", "current_user", "grouping__id", "localtime", "localtimestamp", "session_user"}


def lexemes(text: str) -> list[Lexeme]:
    """The lexemes of the text. Errors: anything that is not a lexeme of a scalar expression."""
    if "${" in text:  # within quotes too
        raise _strange(text, text.index("${"))
    return list(_classified(list(_raw(text))))


def _raw(text: str) -> Iterator[_Raw]:
    position = 0
    while position < len(text):
        match = _LEXEME.match(text, position)
        if match is None or match.lastgroup is None or match.lastgroup == "foreign":
            raise _strange(text, position)
        if match.lastgroup != "space":
            yield _Raw(match.lastgroup, match.group())
        position = match.end()


_FOREIGN = {
    "--": ("comments", "a sign after a minus has a space before it: a - -1"),
    "/*": ("comments", None),
    "*/": ("comments", None),
    "->": ("functions of its own", None),
    "=>": ("arguments by name", None),
    "<<": ("<<", "shiftleft(a, 2)"),
    ">>": (">>", "shiftright(a, 2)"),
    "${": ("${..}", "it is replaced in paths and options of connectors only"),
}


def _strange(text: str, position: int) -> SpecError:
    rest = text[position:]
    if rest[:2] in _FOREIGN:
        what, hint = _FOREIGN[rest[:2]]
        return SpecError("", f"must not have {what}", hint=hint)
    if rest[0].isdigit() or rest[0] == ".":
        hint = "numbers have no suffix and digits on both sides of the point: 1, 0.5, 1e3, cast(1 as bigint)"
        return SpecError("", f"has a number that cannot be read at {_near(rest)}", hint=hint)
    if rest[0] in "'\"`":
        return SpecError("", f"has a quote that does not end at {_near(rest)}")
    hint = "parameters, statements and letters beyond ASCII outside of quotes are not part of an expression"
    return SpecError("", f"has a character that does not belong at {_near(rest)}", hint=hint)


def _near(rest: str) -> str:
    return ascii(rest[:20])


def _classified(raws: Sequence[_Raw]) -> Iterator[Lexeme]:
    index, after_cast = 0, False
    while index < len(raws):
        ahead = raws[index : index + 6]  # no lexeme is made of more
        lexeme, length = _type(ahead) if after_cast else _next(ahead)
        yield lexeme
        index += length
        after_cast = lexeme.is_any("as", "::")


def _next(raws: Sequence[_Raw]) -> tuple[Lexeme, int]:
    """The first lexeme, and of how many raw ones it is made: a time with its text is one lexeme."""
    first, word = raws[0], raws[0].source.lower()
    following = raws[1] if len(raws) > 1 else _Raw("end", "")
    match first.group:
        case "number":
            return _literal(number(first.source), first.source), 1
        case "string" if following.group == "string":
            raise SpecError("", "has two texts in a row", hint="join texts with ||; a quote inside is written \\'")
        case "string":
            return _literal(string(first.source), first.source), 1
        case "quoted":
            return _name(first.source[1:-1].replace("``", "`"), first.source), 1
        case "sign":
            kind = Kind.KEYWORD if first.source == "!" else Kind.SIGN
            return Lexeme(kind, _SAME.get(first.source, first.source), first.source), 1
    if word in ("date", "timestamp") and following.group == "string":
        return _literal(typed_time(word, following.source), f"{first.source} {following.source}"), 2
    if word == "interval":
        return _interval(raws)
    if word in _KEYWORDS - _ALSO_FUNCTIONS or (word in _ALSO_FUNCTIONS and following.source != "("):
        return Lexeme(Kind.KEYWORD, _SAME.get(word, word), first.source), 1
    if following.source == "(":
        return Lexeme(Kind.FUNCTION, word, first.source), 1
    return _name(first.source, first.source), 1


def _interval(raws: Sequence[_Raw]) -> tuple[Lexeme, int]:
    """`interval [-] size unit`."""
    sign = "-" if len(raws) > 1 and raws[1].source == "-" else ""
    length = 4 if sign else 3
    size, unit = [raw.source for raw in raws[length - 2 : length]] if len(raws) >= length else ("", "")
    return _literal(interval(sign, size, unit), " ".join(raw.source for raw in raws[:length])), length


def _type(raws: Sequence[_Raw]) -> tuple[Lexeme, int]:
    """The type of a cast, with its precision and scale."""
    name = _TYPES.get(raws[0].source.lower())
    if name is None:
        hint = f"the types are {', '.join(dict.fromkeys(_TYPES.values()))}"
        raise SpecError("", f"must name a type after `as` and `::`, not {raws[0].source!a}", hint=hint)
    if name != "decimal":
        return Lexeme(Kind.TYPE, name, raws[0].source), 1
    shape = re.match(r"\((\d+)(?:,(\d+))?\)", "".join(raw.source for raw in raws[1:6]))
    precision, scale = (int(shape[1]), int(shape[2] or 0)) if shape else (10, 0)
    if not 1 <= precision <= 38 or scale > precision:
        rule = f"must not have decimal({precision}, {scale})"
        raise SpecError("", rule, hint="1 to 38 digits, and no more behind the point")
    length = 1 if shape is None else 4 if shape[2] is None else 6
    return Lexeme(Kind.TYPE, f"decimal({precision}, {scale})", raws[0].source), length


def _literal(literal: Literal, source: str) -> Lexeme:
    return Lexeme(Kind.LITERAL, literal.sql, source, literal)


def _name(name: str, source: str) -> Lexeme:
    if name.lower() in _READ_THE_SESSION:
        hint = "Spark gives it a meaning of its own; use a column of the source"
        raise SpecError("", f"must not read `{name}`", hint=hint)
    if not name.isprintable():
        raise SpecError("", f"must not have a column named {name!a}")
    return Lexeme(Kind.NAME, name, source)
