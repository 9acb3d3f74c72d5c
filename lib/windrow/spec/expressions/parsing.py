"""The text as sqlglot's tree, with every name, function and constant replaced by a numbered stand-in.

sqlglot sees keywords, signs and stand-ins (`x3`, `f4`), never the text itself, so that nothing of its many dialects
comes in. `Source` knows what stands behind them, and where sqlglot took liberties.
"""

from __future__ import annotations

import re
from collections import Counter

import sqlglot
from sqlglot import exp
from sqlglot.errors import ParseError, SqlglotError

from windrow.spec.errors import SpecError
from windrow.spec.expressions.lexemes import Kind, Lexeme, lexemes

MAX_CHARACTERS = 10_000
MAX_NESTING = 30
"""How deep parentheses, brackets and `case` may be nested; sqlglot needs about twenty frames of Python for each."""
MAX_DEPTH = 100
"""How long a branch of the tree may be; a chain of n operators is n long."""

_STAND_IN = re.compile("[xf][0-9]+")
_QUERY_WORDS = frozenset(["select", "from", "with", "union", "join", "lateral", "values", "over", "window", "distinct"])


class Source:
    """The lexemes of a text. Errors: anything that is not a lexeme, too long a text, or too deep."""

    def __init__(self, text: str) -> None:
        if len(text) > MAX_CHARACTERS:
            raise SpecError("", f"must not have more than {MAX_CHARACTERS} characters, with names in backticks")
        self._lexemes = lexemes(text)
        if not self._lexemes:
            raise SpecError("", "must be an expression, not an empty text", hint="for instance: amount > 0")
        self._check_nesting()

    def _check_nesting(self) -> None:
        depth = prefixes = 0
        for lexeme in self._lexemes:
            depth += lexeme.is_any("(", "[", "case") - lexeme.is_any(")", "]", "end")
            prefixes = prefixes + 1 if lexeme.is_any("not", "-", "~") else 0
            if depth > MAX_NESTING or prefixes > MAX_NESTING:
                raise too_deep()

    def node(self) -> exp.Expr:
        """sqlglot's tree over the stand-ins."""
        masked = " ".join(_masked(index, lexeme) for index, lexeme in enumerate(self._lexemes))
        try:
            return sqlglot.parse_one(masked, dialect="spark", into=exp.Condition)
        except SqlglotError as error:
            details = error.errors if isinstance(error, ParseError) else []
            near = str(details[0].get("highlight") or "its end") if details else "its end"
            raise self.broken(self.lexeme(near).source if _STAND_IN.fullmatch(near) else near.lower()) from None

    def lexeme(self, name: str) -> Lexeme:
        """What stands behind a name. Errors: sqlglot takes some keywords for names, Spark need not."""
        if not _STAND_IN.fullmatch(name):
            raise self.broken(name.lower())
        return self._lexemes[int(name[1:])]

    def broken(self, near: str) -> SpecError:
        hint = "a column named like a keyword is written in backticks: `end`"
        return self.refusal(f"must be one scalar expression of Spark SQL; it breaks at {near}", hint)

    def refusal(self, rule: str, hint: str) -> SpecError:
        """The error, or a better one if the text looks like a query."""
        words = [lexeme.value.lower() for lexeme in self._lexemes if lexeme.kind in (Kind.NAME, Kind.FUNCTION)]
        if query := [word for word in words if word in _QUERY_WORDS]:
            rule = f"must be one scalar expression, without {query[0]}"
            hint = "no queries, windows or aggregates; a column of that name is written in backticks"
        return SpecError("", rule, hint=hint)

    def check_parentheses(self, node: exp.Expr) -> None:
        """Refuse a tree with parentheses that the text does not have: sqlglot puts them where it sees a doubt."""
        groups = sum(lexeme.is_any("(") - lexeme.is_any("in") for lexeme in self._lexemes)
        groups -= sum(lexeme.kind is Kind.FUNCTION for lexeme in self._lexemes)
        if sum(isinstance(inner, exp.Paren) for inner in node.walk()) != groups or self._has_sign_before_cast():
            raise ambiguous()

    def _has_sign_before_cast(self) -> bool:
        """`-1::t` is (-1)::t for Spark and -(1::t) for sqlglot."""
        found = self._lexemes
        return any(
            found[index].is_any("-")
            and found[index + 1].kind is Kind.LITERAL
            and found[index + 2].is_any("::")
            and not (index and _ends_operand(found[index - 1]))
            for index in range(len(found) - 2)
        )

    def check_complete(self, text: str) -> None:
        """Refuse unless each lexeme occurs as often in `text`, the text of the tree, as here."""
        if self._census() != Source(text)._census():
            raise SpecError("", "must be one scalar expression of Spark SQL; a part of it has no meaning there")

    def _census(self) -> Counter[tuple[Kind, str]]:
        """How often each lexeme occurs, but for parentheses; `a::t` is `cast(a as t)`."""
        counter = Counter((lexeme.kind, lexeme.value) for lexeme in self._lexemes if not lexeme.is_any("(", ")"))
        casts = counter.pop((Kind.SIGN, "::"), 0)
        return counter + Counter({(Kind.FUNCTION, "cast"): casts, (Kind.KEYWORD, "as"): casts})


def _masked(index: int, lexeme: Lexeme) -> str:
    if lexeme.kind is Kind.FUNCTION and lexeme.value not in ("cast", "try_cast"):
        return f"f{index}"
    return f"x{index}" if lexeme.kind in (Kind.NAME, Kind.LITERAL) else lexeme.value.upper()


def _ends_operand(lexeme: Lexeme) -> bool:
    is_value = lexeme.kind in (Kind.NAME, Kind.LITERAL, Kind.TYPE)
    return is_value or lexeme.is_any(")", "]", "end", "null", "true", "false")


def too_deep() -> SpecError:
    """The error of a tree that is too deep."""
    rule = f"must not be nested deeper than {MAX_NESTING} levels or have chains of {MAX_DEPTH}"
    hint = "a part of it can be a column of its own under `select`; `in (..)` replaces a chain of `or`"
    return SpecError("", rule, hint=hint)


def ambiguous() -> SpecError:
    """The error of a text that Spark and sqlglot could read as different trees."""
    return SpecError("", "must have more parentheses: without them it can be read in two ways", hint="(a = b) = c")
