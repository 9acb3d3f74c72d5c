"""What can fail on a row, and its form that gives null there instead, with ANSI on and off.

An attempt is made from arguments that never fail themselves. Its value is null, and its failure true, exactly where
Spark with ANSI on would raise; the failure is never null.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce

from windrow.spec.expressions.tree import Between, Call, Case, Cast, Infix, Is, Item, Literal, Tree

Arguments = Sequence[Tree]

NULL, TRUE, FALSE = Literal("null"), Literal("true"), Literal("false")
_ZERO, _MINUS_ONE = Literal("0", 0), Literal("-1", -1)


@dataclass(frozen=True)
class Attempt:
    """The value, null where it fails, and the condition under which it fails (None: it cannot)."""

    value: Tree
    failure: Tree | None


Attempting = Callable[[Arguments], Attempt]


def all_of(*conditions: Tree) -> Tree:
    """The conditions joined by `and`; at least one."""
    return reduce(lambda left, right: Infix(left, "and", right), conditions)


def any_of(*conditions: Tree | None) -> Tree | None:
    """Those conditions that there are, joined by `or`; None if there are none."""
    present = [condition for condition in conditions if condition is not None]
    return reduce(lambda left, right: Infix(left, "or", right), present) if present else None


def null_for(value: Tree, arguments: Arguments) -> Attempt:
    """A value that is null exactly where it fails or where an argument is null."""
    return Attempt(value, all_of(Is(value, "null"), *_given(arguments)))


def _given(arguments: Arguments) -> list[Tree]:
    return [Is(argument, "not null") for argument in arguments if not isinstance(argument, Literal)]


def by(name: str) -> Attempting:
    """Spark's own form that gives null."""
    return lambda arguments: null_for(Call(name, tuple(arguments)), arguments)


def _is_nonzero(divisor: Tree) -> bool:
    return isinstance(divisor, Literal) and isinstance(divisor.value, int) and divisor.value != 0


def remainder(arguments: Arguments) -> Attempt:
    """`a % b`, `mod(a, b)`: fails for b = 0."""
    if _is_nonzero(arguments[1]):
        return Attempt(Infix(arguments[0], "%", arguments[1]), None)
    return by("try_mod")(arguments)


def positive_remainder(arguments: Arguments) -> Attempt:
    """`pmod(a, b)`: fails for b = 0."""
    dividend, divisor = arguments
    if _is_nonzero(divisor):
        return Attempt(Call("pmod", (dividend, divisor)), None)
    return null_for(Call("pmod", (dividend, Call("nullif", (divisor, _ZERO)))), arguments)


def whole_quotient(arguments: Arguments) -> Attempt:
    """`a div b`: fails for b = 0, and where the least bigint is divided by -1."""
    dividend, divisor = arguments
    if _is_nonzero(divisor) and divisor != _MINUS_ONE:
        return Attempt(Infix(dividend, "div", divisor), None)
    opposite = Cast(Call("try_subtract", (Cast(_ZERO, "bigint"), dividend)), "bigint", tries=True)
    quotient = Infix(dividend, "div", Call("nullif", (divisor, _ZERO)))
    return null_for(Case(((Infix(divisor, "=", _MINUS_ONE), opposite),), quotient), arguments)


def opposite(arguments: Arguments) -> Attempt:
    """`-a`: fails for the least whole number of its type."""
    return null_for(_negative(arguments[0]), arguments)


def absolute(arguments: Arguments) -> Attempt:
    """`abs(a)`: fails for the least whole number of its type."""
    negative = _negative(arguments[0])
    larger = Call("greatest", (arguments[0], negative))
    return null_for(Call("if", (Is(negative, "null"), NULL, larger)), arguments)


def _negative(value: Tree) -> Tree:
    """0 - value. Spark's own `-value` and `abs` round decimals of over 34 digits, or raise. A tinyint stays one."""
    return Call("try_subtract", (Literal("0Y"), value))


def cast(type: str) -> Attempting:
    """`cast(a as type)`: fails where `a` cannot be read as the type, or does not fit it. Any type has a text."""

    def attempt(arguments: Arguments) -> Attempt:
        if type == "string":
            return Attempt(Cast(arguments[0], type), None)
        return null_for(tried_cast(arguments[0], type), arguments)

    return attempt


def tried_cast(operand: Tree, type: str) -> Tree:
    """`try_cast`, but for a time of day: Spark would give it the date of the day on which it runs."""
    value = Cast(operand, type, tries=True)
    if type != "timestamp":
        return value
    time_of_day = Infix(Cast(operand, "string"), "rlike", Literal(r"'^[\\x00-\\x20]*[-+]?(T|[0-9]+:)'"))
    return Call("if", (time_of_day, NULL, value))


def to_date(arguments: Arguments) -> Attempt:
    """`to_date(a[, format])`: fails where `a` cannot be read."""
    if len(arguments) == 1:
        return cast("date")(arguments)
    return null_for(Cast(Call("try_to_timestamp", tuple(arguments)), "date"), arguments)


def to_timestamp(arguments: Arguments) -> Attempt:
    """`to_timestamp(a[, format])`: fails where `a` cannot be read."""
    return cast("timestamp")(arguments) if len(arguments) == 1 else by("try_to_timestamp")(arguments)


def try_to_timestamp(arguments: Arguments) -> Attempt:
    """The user's own `try_to_timestamp`: as `to_timestamp`, but null is no failure."""
    return Attempt(to_timestamp(arguments).value, None)


def timestamp_seconds(arguments: Arguments) -> Attempt:
    """`timestamp_seconds(a)`: fails where the microseconds do not fit a bigint. Parts of a microsecond are cut off."""
    microseconds = Cast(Call("try_multiply", (arguments[0], Literal("1000000L"))), "bigint", tries=True)
    return null_for(Call("timestamp_micros", (microseconds,)), arguments)


def timestamp_millis(arguments: Arguments) -> Attempt:
    """`timestamp_millis(a)`: fails where the microseconds do not fit a bigint."""
    microseconds = Call("try_multiply", (arguments[0], Literal("1000L")))
    return null_for(Call("timestamp_micros", (microseconds,)), arguments)


def item(arguments: Arguments) -> Attempt:
    """`a[i]`: with a constant text the value of a map, which cannot fail; else fails outside of the array."""
    container, index = arguments
    if isinstance(index, Literal) and isinstance(index.value, str):
        return Attempt(Item(container, index), None)
    last = Infix(Call("array_size", (container,)), "-", Literal("1", 1))
    outside = Between(index, _ZERO, last, negated=True)
    return Attempt(Call("get", (container, index)), all_of(*_given(arguments), outside))


def element_at(arguments: Arguments) -> Attempt:
    """`element_at(a, constant)`: with a text the value of a map, which cannot fail; else fails outside of the array."""
    container, index = arguments
    if not isinstance(index, Literal) or not isinstance(index.value, int):
        return Attempt(Call("element_at", (container, index)), None)
    least = Literal(str(abs(index.value)), abs(index.value))
    outside = Call("coalesce", (Infix(Call("array_size", (container,)), "<", least), FALSE))
    return Attempt(Call("try_element_at", (container, index)), outside)


def size(arguments: Arguments) -> Attempt:
    """`size(a)`: cannot fail, and is null for null, where Spark with ANSI off gives -1."""
    return Attempt(Call("nullif", (Call("size", tuple(arguments)), _MINUS_ONE)), None)


OPERATORS: dict[str, Attempting] = {
    "+": by("try_add"),
    "-": by("try_subtract"),
    "*": by("try_multiply"),
    "/": by("try_divide"),
    "%": remainder,
    "div": whole_quotient,
}
"""The operators between two operands that can fail."""
