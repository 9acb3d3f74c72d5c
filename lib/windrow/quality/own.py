"""Expectations that need no Great Expectations: conditions over rows, counted in one pass, and types of columns."""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame

from windrow.compile.elements.row_rules import applies_to, is_true
from windrow.compile.sql.columns import call
from windrow.engine.frames import group
from windrow.spec.quality.expectations import SHAPES, Expectation, Severity
from windrow.spec.quality.judgements import Judgement, Outcome

CONDITION = "unexpected_rows"


def is_own(expectation: Expectation) -> bool:
    """Whether it is judged here."""
    return expectation.expect == CONDITION or SHAPES[expectation.expect].by_schema


def judge_own(frame: DataFrame, expectations: Mapping[int, Expectation]) -> dict[int, Judgement]:
    """What came of such expectations over the rows, by the numbers that they have."""
    kinds = {field.name: field.dataType.simpleString() for field in frame.schema.fields}
    of_rows = {number: one for number, one in expectations.items() if one.expect == CONDITION}
    found = {number: judge_schema(one, kinds) for number, one in expectations.items() if number not in of_rows}
    return found | (_of_rows(frame, of_rows) if of_rows else {})


def share_in_words(broken: int, rows: int) -> str:
    """`2 of 40 rows (5.00 %)`."""
    return f"{broken:,} of {rows:,} rows ({100 * broken / rows if rows else 0.0:.2f} %)"


def _of_rows(frame: DataFrame, expectations: Mapping[int, Expectation]) -> dict[int, Judgement]:
    counts = {}
    for number, one in expectations.items():
        applies = applies_to(one)
        counts[f"rows_{number}"] = call("count_if", applies)
        counts[f"broken_{number}"] = call("count_if", applies & is_true(one.arguments["condition"]))
    try:
        (row,) = group(frame, (), counts).collect()
    except AnalysisException as error:  # of types that do not go together
        if len(expectations) > 1:
            return {number: _of_rows(frame, {number: one})[number] for number, one in expectations.items()}
        why = f"could not be checked: {error.getCondition() or type(error).__name__}"
        return {number: _judgement(one, Outcome.ERROR, why) for number, one in expectations.items()}
    return {
        number: _counted(one, row[f"broken_{number}"], row[f"rows_{number}"]) for number, one in expectations.items()
    }


def _counted(expectation: Expectation, broken: int, rows: int) -> Judgement:
    passed = rows == 0 or (rows - broken) / rows >= expectation.arguments.get("mostly", 1)
    outcome = Outcome.PASSED if passed else Outcome.FAILED
    return _judgement(expectation, outcome, share_in_words(broken, rows), broken)


def judge_schema(expectation: Expectation, kinds: Mapping[str, str]) -> Judgement:
    """What came of an expectation about columns and their types."""
    given = expectation.arguments
    if "column_set" in given:
        wanted = {name.lower() for name in given["column_set"]}
        has = {name.lower() for name in kinds}
        passed = wanted == has if given.get("exact_match", True) else wanted <= has
        words = [f"no {name}" for name in sorted(wanted - has)]
        words += [f"also {name}" for name in sorted(has - wanted)] if given.get("exact_match", True) else []
        figure = ", ".join(words) or "these columns"
    else:
        figure = kinds[given["column"]]
        passed = _plain(figure) in map(_plain, given.get("type_list") or (given["type_"],))
    return _judgement(expectation, Outcome.PASSED if passed else Outcome.FAILED, figure)


def _plain(kind: str) -> str:
    """A type without spaces, and without case, which the names of a struct's fields may have."""
    return "".join(kind.split()).lower()


def _judgement(expectation: Expectation, outcome: Outcome, figure: str, broken: int | None = None) -> Judgement:
    return Judgement(str(expectation), Severity(expectation.severity), outcome, figure, rows_broken=broken)
