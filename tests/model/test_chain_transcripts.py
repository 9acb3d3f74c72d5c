"""Every transcript of a chain or of several inputs on the reference model; and that reading and checking are strict.

`WINDROW_EXAMPLES` names a folder with more of them, where there is one.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from tests.model.chain_transcripts import ChainCase, check, read_case, read_chain_cases
from windrow.spec.errors import SpecError

FOLDER = Path(__file__).parent / "transcripts_of_chains"
MORE = Path(os.environ.get("WINDROW_EXAMPLES", FOLDER / "none"))
FILES = [*sorted(FOLDER.glob("*.yaml")), *sorted(MORE.glob("*.yaml"))]
CASES = [pytest.param(case, id=f"{file.stem}: {case.name}") for file in FILES for case in read_chain_cases(file)]

SUMS = {"name": "sums", "keys": ["k"], "window": {"fixed": {"size": "10s"}}, "aggregates": {"n": {"sum": "v"}}}
TOTAL = {"name": "total", "window": {"inherited": {}}, "aggregates": {"n": {"sum": "n"}}}
FIRST = {"add": [{"at": 1, "k": "a", "v": 2}], "watermark": 10}


def case_of(**fields: Any) -> dict[str, Any]:
    expected = {"sums": [{"k": "a", "n": 2}], "total": [{"n": 2, "window": [0, 10]}]}
    steps = [{**FIRST, "expect": expected}]
    elements = {"k": "string", "v": "long"}
    return {"case": "c", "stages": [SUMS, TOTAL], "elements": elements, "steps": steps, **fields}


@pytest.mark.parametrize("case", CASES)
def test_case(case: ChainCase) -> None:
    messages = check(case)
    assert not messages, "\n".join(messages)


def test_a_case_that_is_right_passes() -> None:
    assert check(read_case(case_of())) == []


@pytest.mark.parametrize(
    ("expected", "message"),
    [
        ({"sums": [{"n": 2}]}, "steps[0] of total: a pane came that was not expected"),
        ({"sums": [{"n": 3}], "total": "any"}, "steps[0] of sums: expected a pane that did not come"),
        ({}, "steps[0] of sums: a pane came"),
    ],
)
def test_a_case_that_is_wrong_fails(expected: Any, message: str) -> None:
    assert check(read_case(case_of(steps=[{**FIRST, "expect": expected}])))[0].startswith(message)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"steps": [{**FIRST, "expect": {"totals": []}}]}, "must map the stages sums, total"),
        ({"steps": [{**FIRST, "expect": []}]}, "must map the stages"),
        ({"steps": [{**FIRST, "expect": {"total": [{"k": "a"}]}}]}, "k is not a field"),
        ({"steps": [{"add": [{"at": 1, "input": "x"}], "expect": {}}]}, "must be one of the inputs"),
        ({"steps": [{"watermarks": 1, "expect": {}}]}, "watermarks is not a field"),
        ({"stages": [SUMS, {**TOTAL, "from": "summs"}]}, "neither a source nor a stage before it"),
        ({"stages": [SUMS, {**TOTAL, "aggregates": {"n": {"sum": "m"}}}]}, "is not a column here"),
        ({"stages": [SUMS, {**TOTAL, "name": "sums"}]}, "is there twice"),
        ({"stages": [SUMS, {**TOTAL, "windows": {}}]}, "here it is called window"),
        ({"rejects": "x"}, "must be there, or rejects"),
    ],
    ids=range(10),
)
def test_reading_is_strict(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(SpecError, match=message):
        read_case(case_of(**fields))


def test_a_refusal_that_does_not_come_is_a_failure() -> None:
    document = {name: value for name, value in case_of().items() if name != "steps"}
    assert check(read_case({**document, "rejects": "twice"})) != []
