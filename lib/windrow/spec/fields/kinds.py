"""The kinds of plain fields: texts, names, numbers, times and durations, expressions, choices, lists and mappings."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from datetime import timedelta
from decimal import Decimal, InvalidOperation
from enum import StrEnum
from typing import Any, TypeVar

from windrow.spec.errors import SpecError
from windrow.spec.expressions import Expression
from windrow.spec.fields import forms
from windrow.spec.fields.forms import Form
from windrow.spec.fields.reading import Kind, Named, Spec, form_of, located
from windrow.spec.fields.typed import DurationLike, ExpressionLike, TimeLike
from windrow.spec.times import (
    EARLIEST_EVENT_TIME,
    LATEST_EVENT_TIME,
    check_zone,
    format_duration,
    format_time,
    in_64_bits,
    parse_duration,
    parse_time,
)

K = TypeVar("K")
G = TypeVar("G")
E = TypeVar("E", bound=StrEnum)
S = TypeVar("S", bound=Spec)


def _same(value: Any) -> Any:
    return value


def simple(accept: Callable[[Any], K], form: Form = forms.anything) -> Kind[K, K]:
    """A kind whose Python and YAML forms are read alike, and kept as they are."""
    return Kind(accept, accept, _same, form)


def _text(value: Any) -> str:
    if not isinstance(value, str) or not value:
        raise SpecError("", "must be a text", value)
    return value


_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def _name(value: Any) -> str:
    if not isinstance(value, str) or not _NAME.fullmatch(value):
        raise SpecError("", "must be a name of letters, digits and _", value)
    return value


def _flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise SpecError("", "must be true or false", value)
    return value


def _whole(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise SpecError("", "must be a whole number", value)
    return value


def _positive_integer(value: Any) -> int:
    if _whole(value) < 1:
        raise SpecError("", "must be positive", value)
    return int(value)


def _count(value: Any) -> int:
    if _whole(value) < 0:
        raise SpecError("", "must not be negative", value)
    return int(value)


def whole_between(least: int, most: int) -> Kind[int, int]:
    """A whole number from `least` to `most`."""

    def accept(value: Any) -> int:
        if not least <= _whole(value) <= most:
            raise SpecError("", f"must be from {least} to {most}", value)
        return int(value)

    return simple(accept, forms.fixed(type="integer", minimum=least, maximum=most))


def _share(value: Any) -> float:
    if not isinstance(value, int | float | Decimal) or isinstance(value, bool) or not 0 <= value <= 1:
        raise SpecError("", "must be a number from 0 to 1", value, "for instance 0.5")
    return float(value)


_DIGITS = 18


def _number(value: Any) -> int | Decimal:
    """A number as it is written: 0.1 is a tenth, not the double next to it."""
    try:
        if isinstance(value, bool) or not isinstance(value, int | float | Decimal | str):
            raise InvalidOperation
        number = Decimal(str(value))
    except InvalidOperation:
        raise SpecError("", "must be a number", value) from None
    if not number.is_finite() or len(f"{number:f}".lstrip("-").replace(".", "").lstrip("0")) > _DIGITS:
        raise SpecError("", f"must be a number of at most {_DIGITS} digits", str(value))
    return value if isinstance(value, int) else number


def _written_number(value: int | Decimal) -> int | float | str:
    """As a number, where the same one is read from it."""
    if isinstance(value, int):
        return value
    return float(value) if Decimal(str(float(value))) == value else str(value)


def _percentile(value: Any) -> int:
    if _positive_integer(value) > 100:
        raise SpecError("", "must be from 1 to 100", value)
    return int(value)


def _python_duration(value: Any) -> int:
    if isinstance(value, timedelta):
        return in_64_bits(value // timedelta(microseconds=1))
    if isinstance(value, int) and not isinstance(value, bool):
        return in_64_bits(value)
    return parse_duration(value)


def _positive(duration: Callable[[Any], int]) -> Callable[[Any], int]:
    def read(value: Any) -> int:
        microseconds = duration(value)
        if microseconds <= 0:
            raise SpecError("", "must be positive", value, "for instance 10s, 1m, 2h, 1d")
        return microseconds

    return read


def _not_negative(duration: Callable[[Any], int]) -> Callable[[Any], int]:
    def read(value: Any) -> int:
        microseconds = duration(value)
        if microseconds < 0:
            raise SpecError("", "must not be negative", value)
        return microseconds

    return read


def _python_time(value: Any) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else parse_time(value)


def _within_the_calendar(time: Callable[[Any], int]) -> Callable[[Any], int]:
    def read(value: Any) -> int:
        micros = time(value)
        if not EARLIEST_EVENT_TIME <= micros <= LATEST_EVENT_TIME:
            raise SpecError("", "must be in the years 1 to 9999", value)
        return micros

    return read


def _expression(value: Any) -> Expression:
    if isinstance(value, Expression):
        return value
    if isinstance(value, bool | int):
        return Expression.parse(str(value).lower())
    return Expression.parse(_text(value))


TEXT = simple(_text, forms.TEXT_FORM)
NAME = simple(_name, forms.NAME_FORM)
FLAG = simple(_flag, forms.FLAG_FORM)
POSITIVE_INTEGER = simple(_positive_integer, forms.POSITIVE_FORM)
COUNT = simple(_count, forms.COUNT_FORM)
SHARE: Kind[float, float | Decimal] = Kind(_share, _share, _same, forms.SHARE_FORM)
NUMBER: Kind[int | Decimal, float | Decimal | str] = Kind(_number, _number, _written_number, forms.NUMBER_FORM)
PERCENTILE = simple(_percentile, forms.fixed(type="integer", minimum=1, maximum=100))
ZONE = simple(lambda value: check_zone(_text(value)), forms.TEXT_FORM)
DURATION: Kind[int, DurationLike] = Kind(
    _not_negative(_python_duration), _not_negative(parse_duration), format_duration, forms.DURATION_FORM
)
POSITIVE_DURATION: Kind[int, DurationLike] = Kind(
    _positive(_python_duration), _positive(parse_duration), format_duration, forms.DURATION_FORM
)
TIME: Kind[int, TimeLike] = Kind(
    _within_the_calendar(_python_time), _within_the_calendar(parse_time), format_time, forms.TIME_FORM
)
EXPRESSION: Kind[Expression, ExpressionLike] = Kind(
    _expression, _expression, lambda expression: expression.text, forms.EXPRESSION_FORM
)


def choice(options: type[E], hints: Mapping[str, str] | None = None) -> Kind[E, Any]:
    """One of the values of an enumeration of texts; whoever names the kind says which texts these are."""

    def accept(value: Any) -> E:
        if isinstance(value, options):
            return value
        if isinstance(value, str) and value in list(options):
            return options(value)
        known = ", ".join(options)
        hint = f"here it is called {hints[value]}" if hints and isinstance(value, str) and value in hints else None
        raise SpecError("", f"must be one of {known}", value, hint)

    return Kind(accept, accept, str, forms.one_of(options))


def nested(cls: type[S]) -> Kind[S, S]:
    """A field that is itself a specification."""

    def accept(value: Any) -> S:
        if not isinstance(value, cls):
            raise SpecError("", f"must be a {cls.__name__}", value)
        return value

    return Kind(accept, cls.from_mapping, lambda value: value.to_mapping(), form_of(cls))


def list_of(kind: Kind[K, G]) -> Kind[tuple[K, ...], Iterable[G]]:
    """A list, kept as a tuple; errors say which item."""

    def each(read_one: Callable[[Any], K]) -> Callable[[Any], tuple[K, ...]]:
        def read(value: Any) -> tuple[K, ...]:
            if isinstance(value, str | Mapping) or not isinstance(value, Iterable):
                raise SpecError("", "must be a list", value)
            return tuple(located(f"[{index}]", read_one, item) for index, item in enumerate(value))

        return read

    return Kind(
        each(kind.accept),
        each(kind.read),
        lambda values: [kind.write(value) for value in values],
        forms.items(kind.form),
    )


def mapping_of(kind: Kind[K, G]) -> Kind[Named[K], Mapping[str, G]]:
    """A mapping from names to values of one kind, kept in its order."""

    def each(read_one: Callable[[Any], K]) -> Callable[[Any], Named[K]]:
        def read(value: Any) -> Named[K]:
            if not isinstance(value, Mapping):
                raise SpecError("", "must be a mapping from names", value)
            return Named(
                [(located(str(name), _name, name), located(name, read_one, item)) for name, item in value.items()]
            )

        return read

    return Kind(
        each(kind.accept),
        each(kind.read),
        lambda named: {name: kind.write(value) for name, value in named.items()},
        forms.values(kind.form),
    )


EXPRESSIONS = mapping_of(EXPRESSION)
"""Expressions by name."""
