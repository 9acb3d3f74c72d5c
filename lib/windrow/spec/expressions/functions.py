"""The allow-list of functions: how many arguments each takes, which must be constants, and whether it can fail.

All are scalar, give the same result for the same row whenever and wherever they run (the session's time zone is UTC),
and either cannot fail or have a form that gives null instead. A function that makes texts must read a column: a
constant text that is put together could say `now` where a time is expected.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches

from windrow.spec.errors import SpecError
from windrow.spec.expressions import attempts
from windrow.spec.expressions.attempts import Attempting, by
from windrow.spec.expressions.columns import is_constant
from windrow.spec.expressions.patterns import (
    check_parsed_format,
    check_regex,
    check_replacement,
    check_written_format,
)
from windrow.spec.expressions.tree import Literal, Tree

Check = Callable[[Sequence[Tree]], None]


@dataclass(frozen=True)
class Function:
    """An entry of the allow-list. `attempt` is how it fails (None: it cannot fail); `check` looks at constants.

    `null_for_null` is whether it is null wherever an argument is null; `makes_text` whether it puts a text together.
    """

    least: int
    most: int | None
    attempt: Attempting | None = None
    check: Check | None = None
    null_for_null: bool = False
    makes_text: bool = False


def text_at(index: int, check: Callable[[str], object]) -> Check:
    """The argument, where it is given, is a constant text that `check` accepts."""

    def checked(arguments: Sequence[Tree]) -> None:
        if index < len(arguments):
            check(_text(arguments, index))

    return checked


def one_of(index: int, *choices: str) -> Check:
    """The argument is one of these constant texts."""

    def check(text: str) -> None:
        if text.lower() not in choices:
            raise SpecError("", f"has an argument {text!a} that is not one of {', '.join(choices)}")

    return text_at(index, check)


def whole_at(index: int, least: int, most: int, but: int | None = None) -> Check:
    """The argument, where it is given, is a constant whole number between the two."""

    def check(arguments: Sequence[Tree]) -> None:
        if index >= len(arguments):
            return
        value = arguments[index].value if isinstance(arguments[index], Literal) else None  # type: ignore[attr-defined]
        if not isinstance(value, int) or not least <= value <= most or value == but:
            besides = "" if but is None else f" but {but}"
            raise SpecError("", f"must have a constant from {least} to {most}{besides} as argument {index + 1}")

    return check


def _text(arguments: Sequence[Tree], index: int) -> str:
    argument = arguments[index]
    if not isinstance(argument, Literal) or not isinstance(argument.value, str):
        raise SpecError("", f"must have a constant text as argument {index + 1}")
    return argument.value


def _key(arguments: Sequence[Tree]) -> None:
    if not isinstance(arguments[1], Literal) or arguments[1].value in (None, 0):
        hint = "an index from 1 on, or from -1 backwards, or a key; for an index that is no constant: a[i], from 0 on"
        raise SpecError("", "must have a constant text or whole number that is not 0 as argument 2", hint=hint)


def _extract(arguments: Sequence[Tree]) -> None:
    groups = check_regex(_text(arguments, 1))
    whole_at(2, 0, groups)(arguments)
    if len(arguments) == 2 and groups == 0:
        raise SpecError("", "must have a group in the pattern", hint="regexp_extract(a, p, 0) is the whole match")


def _replace(arguments: Sequence[Tree]) -> None:
    check_replacement(_text(arguments, 2), check_regex(_text(arguments, 1)))


def _names(arguments: Sequence[Tree]) -> None:
    names = [_text(arguments, index).lower() for index in range(0, len(arguments), 2)]
    if len(arguments) % 2 or len(set(names)) < len(names):
        raise SpecError("", "must have a different constant name before each value")


def _group(names: str, least: int, most: int | None, **more: object) -> dict[str, Function]:
    return {name: Function(least, most, **more) for name in names.split()}  # type: ignore[arg-type]


def _strict(names: str, least: int, most: int | None, **more: object) -> dict[str, Function]:
    return _group(names, least, most, null_for_null=True, **more)


FUNCTIONS: dict[str, Function] = {
    # conditions; `coalesce`, `nvl`, `ifnull`, `nvl2` and `if` look at no more arguments than they need
    **_group("coalesce", 1, None),
    **_group("greatest least", 2, None),
    **_group("nvl ifnull nullif equal_null nanvl", 2, 2),
    **_group("if nvl2", 3, 3),
    **_group("isnull isnotnull isnan nullifzero zeroifnull", 1, 1),
    # numbers
    **_strict("sign signum sqrt cbrt exp expm1 ln log10 log2 log1p floor ceil ceiling rint bit_count", 1, 1),
    **_strict("sin cos tan asin acos atan sinh cosh tanh degrees radians", 1, 1),
    **_strict("power pow hypot atan2 shiftleft shiftright shiftrightunsigned", 2, 2),
    **_strict("log", 1, 2),
    **_strict("pi e", 0, 0),
    **_strict("round bround", 1, 2, check=whole_at(1, 0, 38)),
    **_strict("abs", 1, 1, attempt=attempts.absolute),
    **_strict("negative", 1, 1, attempt=attempts.opposite),
    **_strict("mod", 2, 2, attempt=attempts.remainder),
    **_strict("pmod", 2, 2, attempt=attempts.positive_remainder),
    **_strict("try_add try_subtract try_multiply try_divide try_mod", 2, 2),
    # texts
    **_strict("lower lcase upper ucase trim ltrim rtrim initcap reverse", 1, 1, makes_text=True),
    **_strict("left right", 2, 2, makes_text=True),
    **_strict("substring substr replace", 2, 3, makes_text=True),
    **_strict("btrim", 1, 2, makes_text=True),
    **_strict("translate", 3, 3, makes_text=True),
    **_strict("concat", 1, None, makes_text=True),
    **_group("concat_ws", 2, None, makes_text=True),
    **_strict("lpad rpad", 2, 3, check=whole_at(1, 0, 10_000), makes_text=True),
    **_strict("split_part", 3, 3, check=whole_at(2, -10_000, 10_000, but=0), makes_text=True),
    **_strict("regexp_extract", 2, 3, check=_extract, makes_text=True),
    **_strict("regexp_replace", 3, 3, check=_replace, makes_text=True),
    **_strict("split", 2, 2, check=text_at(1, check_regex), makes_text=True),
    **_strict("regexp_like", 2, 2, check=text_at(1, check_regex)),
    **_strict("get_json_object", 2, 2, check=text_at(1, str), makes_text=True),
    **_strict("url_decode", 1, 1, attempt=by("try_url_decode"), makes_text=True),
    **_strict("url_encode try_url_decode", 1, 1, makes_text=True),
    **_strict("length char_length character_length octet_length bit_length ascii", 1, 1),
    **_strict("startswith endswith contains instr", 2, 2),
    **_group("locate", 2, 3),
    **_strict("md5 sha sha1 crc32", 1, 1),
    **_group("hash xxhash64", 1, None),
    **_strict("sha2", 2, 2, check=whole_at(1, 0, 512)),
    # times
    **_strict("year quarter month day dayofmonth dayofweek dayofyear weekday weekofyear last_day", 1, 1),
    **_strict("hour minute second unix_seconds unix_millis unix_micros unix_date", 1, 1),
    **_strict("date_from_unix_date timestamp_micros", 1, 1),
    **_strict("date_add date_sub datediff date_diff months_between", 2, 2),
    **_strict("date_trunc", 2, 2, check=one_of(0, "year", "quarter", "month", "week", "day", "hour", "minute", "second",
                                               "millisecond", "microsecond")),
    **_strict("trunc", 2, 2, check=one_of(1, "year", "quarter", "month", "week")),
    **_strict("date_format", 2, 2, check=text_at(1, check_written_format), makes_text=True),
    **_strict("to_date", 1, 2, attempt=attempts.to_date, check=text_at(1, check_parsed_format)),
    **_strict("to_timestamp", 1, 2, attempt=attempts.to_timestamp, check=text_at(1, check_parsed_format)),
    **_strict("try_to_timestamp", 1, 2, attempt=attempts.try_to_timestamp, check=text_at(1, check_parsed_format)),
    **_strict("timestamp_seconds", 1, 1, attempt=attempts.timestamp_seconds),
    **_strict("timestamp_millis", 1, 1, attempt=attempts.timestamp_millis),
    # arrays, maps, structs
    **_group("array", 0, None),
    **_strict("size cardinality", 1, 1, attempt=attempts.size),
    **_group("array_size array_distinct array_max array_min array_sort map_keys map_values", 1, 1),
    **_group("array_contains array_position array_remove array_append array_prepend", 2, 2),
    **_group("array_union array_intersect array_except arrays_overlap get map_contains_key", 2, 2),
    **_group("sort_array", 1, 2),
    **_group("array_join", 2, 3, makes_text=True),
    **_strict("element_at", 2, 2, attempt=attempts.element_at, check=_key),
    **_group("try_element_at", 2, 2, check=_key),
    **_group("named_struct", 2, None, check=_names),
}  # fmt: skip
"""Every function that an expression may call, by its name in Spark."""


def _hints(names: str, hint: str) -> dict[str, str]:
    return {name: hint.format(name=name) for name in names.split()}


_ELSEWHERE = {
    **_hints(
        "any approx_count_distinct array_agg avg bool_and bool_or collect_list collect_set count count_if every first "
        "first_value last last_value max max_by mean median min min_by mode percentile some stddev sum variance",
        "an aggregate stands under `aggregates`",
    ),
    **_hints(
        "curdate current_catalog current_database current_date current_schema current_timestamp current_timezone "
        "current_user input_file_name localtimestamp monotonically_increasing_id now rand randn random session_user "
        "shuffle spark_partition_id unix_timestamp user uuid version",
        "it differs from run to run, so a replay would not give the same result",
    ),
    **_hints("boolean tinyint smallint int bigint float double decimal string date timestamp", "cast(a as {name})"),
    **_hints("regexp rlike like ilike", "write a {name} 'pattern'"),
    **_hints("extract date_part datepart", "write year(a), month(a), ..."),
}


def function(name: str) -> Function:
    """The entry of a function. Errors: one that is not on the list, with what to write instead."""
    if name not in FUNCTIONS:
        raise SpecError("", f"must not call {name}, which is not on the list of functions", hint=_hint(name))
    return FUNCTIONS[name]


def _hint(name: str) -> str | None:
    if name in _ELSEWHERE:
        return _ELSEWHERE[name]
    near = get_close_matches(name, FUNCTIONS, n=3, cutoff=0.6)
    return f"did you mean {' or '.join(near)}?" if near else None


def check_arguments(name: str, arguments: Sequence[Tree]) -> None:
    """Refuse arguments that a function of the list does not take."""
    entry = function(name)
    if not entry.least <= len(arguments) <= (len(arguments) if entry.most is None else entry.most):
        most = " or more" if entry.most is None else "" if entry.most == entry.least else f" to {entry.most}"
        raise SpecError("", f"must call {name} with {entry.least}{most} arguments, not {len(arguments)}")
    if entry.makes_text and all(is_constant(argument) for argument in arguments):
        raise SpecError("", f"must read a column in {name}", hint="a constant text is written as it is")
    if entry.check is not None:
        try:
            entry.check(arguments)
        except SpecError as error:
            raise SpecError("", f"{error.rule} in {name}", hint=error.hint) from None
