"""Transcripts are read strictly: what is misspelt or has the wrong type is an error with file, case and field."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
import yaml

from windrow.spec.errors import NotInThisVersion, SpecError
from windrow.spec.fields.reading import Named
from windrow.spec.fields.values import read_value
from windrow.spec.times import INFINITY, MINUS_INFINITY, SECOND
from windrow.spec.transcripts.cases import Case, Expected, read_transcripts

CASE = """\
case: one
why: because
stage:
  keys: [k]
  window: {fixed: {size: 10s}}
  aggregates: {total: {sum: v}}
elements: {k: string, v: long}
steps:
  - add: [{at: 1.5, k: a, v: 5}, {at: null, k: b, partition: p0}]
    now: 5
    expect: []
    dead: [{at: null, window: null, reason: bad_timestamp}]
    unassigned: 0
  - watermark: 10
    expect: [{k: a, window: [0, 10], total: 5, timing: on_time}]
  - {watermark: max, expect: any}
"""


def mapping(**fields: Any) -> dict[str, Any]:
    return {**yaml.safe_load(CASE), **fields}


def with_step(**fields: Any) -> dict[str, Any]:
    case = mapping()
    case["steps"][0].update(fields)
    return case


def read(folder: Path, *cases: Any) -> list[Case]:
    path = folder / "cases.yaml"
    texts = [case if isinstance(case, str) else yaml.safe_dump(case, sort_keys=False) for case in cases]
    path.write_text("---\n".join(texts), encoding="utf-8")
    return read_transcripts(path)


def test_a_case(tmp_path: Path) -> None:
    (case,) = read(tmp_path, CASE)
    assert (case.name, case.why, dict(case.schema)) == ("one", "because", {"k": "string", "v": "bigint"})
    first, second, third = case.steps
    assert [element.at for element in first.add] == [1_500_000, None]
    assert dict(first.add[0].columns) == {"k": "a", "v": 5}
    assert dict(first.add[1].columns) == {"k": "b", "v": None}
    assert first.add[1].partition == "p0"
    assert (first.now, first.watermark, first.unassigned, first.expect) == (5 * SECOND, None, 0, ())
    assert dict(first.dead[0].fields) == {"at": None, "window": None, "reason": "bad_timestamp"}
    assert second.expect is not None
    assert dict(second.expect[0].fields) == {"k": "a", "window": (0, 10 * SECOND), "total": 5, "timing": "on_time"}
    assert (third.expect, third.watermark, third.dead) == (None, INFINITY, ())


def test_several_cases_in_a_file(tmp_path: Path) -> None:
    cases = read(tmp_path, mapping(case="a"), mapping(case="b"))
    assert [case.name for case in cases] == ["a", "b"]
    assert read(tmp_path, "") == []


def test_an_unquoted_time_is_the_time_that_it_looks_like(tmp_path: Path) -> None:
    another = CASE.replace("case: one", "case: two")
    quoted, bare = read(tmp_path, CASE.replace("1.5", '"12:00"'), another.replace("1.5", "12:00"))
    assert quoted.steps == bare.steps


def test_windows_and_times(tmp_path: Path) -> None:
    panes = [
        {"window": "global", "event_time": None},
        {"window": ["12:00", "12:02"], "event_time": "12:01:59.999999"},
        {"window": [-1, "2000-01-01T00:00:00Z"]},
    ]
    case = mapping(steps=[{"expect": panes, "watermark": "min"}])
    (step,) = read(tmp_path, case)[0].steps
    assert step.expect is not None
    noon = 946_728_000 * SECOND
    assert [pane.fields["window"] for pane in step.expect] == [
        (MINUS_INFINITY, INFINITY), (noon, noon + 120 * SECOND), (-SECOND, noon - 12 * 3600 * SECOND),
    ]  # fmt: skip
    assert [pane.fields.get("event_time") for pane in step.expect] == [None, noon + 120 * SECOND - 1, None]
    assert step.watermark == MINUS_INFINITY


def test_the_error_names_file_case_and_field(tmp_path: Path) -> None:
    with pytest.raises(SpecError) as error:
        read(tmp_path, mapping(case="good"), with_step(expects=[]))
    assert str(error.value) == (
        f"{tmp_path / 'cases.yaml'}: case 'one'.steps[0].expects is not a field. Hint: did you mean expect?"
    )


@pytest.mark.parametrize(
    ("case", "message"),
    [
        (mapping(case=None), "document 1.case must be a text"),
        (mapping(case=3), "document 1.case must be a text; got 3"),
        ({key: value for key, value in mapping().items() if key != "case"}, "document 1.case is missing"),
        (mapping(why=["x"]), "case 'one'.why must be a text"),
        (mapping(comment="x"), "comment is not a field"),
        (mapping(stages=[]), "stage must be there, or stages"),
        (mapping(elements=None), "elements must map the element's columns to their types"),
        (mapping(elements={"k": "strin"}), 'elements.k is not a type; got "strin"'),
        (mapping(elements={"k": "string", "at": "long"}), "elements.at cannot be a column"),
        (mapping(elements={"k": "string", "K": "string", "v": "long"}), "elements has the column K twice"),
        (mapping(stage={**mapping()["stage"], "windw": {}}), "stage.windw is not a field. Hint: did you mean window?"),
        (mapping(stage={**mapping()["stage"], "keys": ["kk"]}), 'stage.keys.kk is not a column here; got "kk"'),
        (mapping(stage={**mapping()["stage"], "aggregates": {"index": {"sum": "v"}}}),
         "stage.aggregates.index cannot be told apart from the field of an expected pane"),
        (mapping(rejects="x"), "steps must be there, or rejects"),
        ({key: value for key, value in mapping().items() if key != "steps"}, "steps must be there, or rejects"),
        (mapping(steps={}), "steps must be a list"),
        (mapping(steps=[]), "steps must have an `expect` somewhere"),
        (mapping(steps=[{"watermark": 3}]), "steps must have an `expect` somewhere"),
        (mapping(steps=["expect"]), "steps[0] must be a mapping"),
        (with_step(watermrak=3), "steps[0].watermrak is not a field. Hint: did you mean watermark?"),
        (with_step(watermark="late"), 'steps[0].watermark must be a time; got "late"'),
        (with_step(watermark=11), "steps[1].watermark goes back. Hint: time and watermarks never do"),
        (with_step(now="max"), 'steps[0].now must be a time; got "max"'),
        (mapping(steps=[{"now": 5, "expect": []}, {"now": 4}]), "steps[1].now goes back"),
        (with_step(expect_watermark=3), "steps[0].expect_watermark needs a watermark_from; got 3"),
        (mapping(watermark_from={"fixed_lag": "1s"}), "steps[1].watermark must be left out with watermark_from"),
        (mapping(watermark_from={"lag": "1s"}), "watermark_from.lag is not a field. Hint: here it is called fixed_lag"),
        (with_step(unassigned="1"), 'steps[0].unassigned must be a whole number from 0 on; got "1"'),
        (with_step(unassigned=True), "steps[0].unassigned must be a whole number from 0 on; got True"),
        (with_step(unassigned=-1), "steps[0].unassigned must be a whole number from 0 on; got -1"),
        # elements
        (with_step(add={}), "steps[0].add must be a list"),
        (with_step(add=None), "steps[0].add must be a list"),
        (with_step(add=[{"k": "a"}]), "steps[0].add[0].at is missing"),
        (with_step(add=[{"at": 1, "kk": "a"}]), "steps[0].add[0].kk is not a field. Hint: did you mean k?"),
        (with_step(add=[{"at": True}]), "steps[0].add[0].at must be a time; got True"),
        (with_step(add=[{"at": float("nan")}]), "steps[0].add[0].at must be a whole number of microseconds"),
        (with_step(add=[{"at": 1, "v": "5"}]), 'steps[0].add[0].v must be a whole number; got "5"'),
        (with_step(add=[{"at": 1, "v": 1.5}]), "steps[0].add[0].v must be a whole number; got 1.5"),
        (with_step(add=[{"at": 1, "v": 2**63}]), "steps[0].add[0].v does not fit a bigint"),
        (with_step(add=[{"at": 1, "k": 5}]), "steps[0].add[0].k must be a text; got 5"),
        (with_step(add=[{"at": 1, "partition": ["p"]}]), "steps[0].add[0].partition must be a text"),
        # what is expected
        (with_step(expect=None), "steps[0].expect must be a list"),
        (with_step(expect="all"), 'steps[0].expect must be a list; got "all"'),
        (with_step(expect=[{"totl": 1}]), "steps[0].expect[0].totl is not a field. Hint: did you mean total?"),
        (with_step(expect=[{"pane_index": 1}]), "steps[0].expect[0].pane_index is not a field"),
        (with_step(expect=[{"v": 1}]), "steps[0].expect[0].v is not a field"),
        (with_step(expect=[{"timing": "ontime"}]), 'timing must be one of early, on_time, late; got "ontime"'),
        (with_step(expect=[{"change": "upsert"}]), "expect[0].change must be one of insert, update_preimage"),
        (with_step(expect=[{"weight": 2}]), "expect[0].weight must be one of 1, -1; got 2"),
        (with_step(expect=[{"weight": True}]), "expect[0].weight must be one of 1, -1; got True"),
        (with_step(expect=[{"index": "0"}]), 'expect[0].index must be a whole number from 0 on; got "0"'),
        (with_step(expect=[{"index": None}]), "expect[0].index must be a whole number from 0 on"),
        (with_step(expect=[{"is_last": "yes"}]), 'expect[0].is_last must be true or false; got "yes"'),
        (with_step(expect=[{"window": "all"}]), 'expect[0].window must be [start, end] or global; got "all"'),
        (with_step(expect=[{"window": [1]}]), "expect[0].window must be [start, end] or global"),
        (with_step(expect=[{"window": [1, "x"]}]), 'expect[0].window[1] must be a time; got "x"'),
        (with_step(expect=[{"window": [10, 0]}]), "expect[0].window must end after it starts"),
        (with_step(expect=[{"trigger": 1}]), "expect[0].trigger must be a text; got 1"),
        (with_step(expect=[{"event_time": "soon"}]), 'expect[0].event_time must be a time; got "soon"'),
        (with_step(expect=[{"watermark_percentile": 1.5}]), "expect[0].watermark_percentile must be a whole number"),
        (with_step(dead=[{"raeson": "late"}]), "steps[0].dead[0].raeson is not a field. Hint: did you mean reason?"),
        (with_step(dead=[{"reason": None}]), "steps[0].dead[0].reason must be a text"),
        (with_step(dead=[{"v": "x"}]), 'steps[0].dead[0].v must be a whole number; got "x"'),
        (with_step(dead={}), "steps[0].dead must be a list"),
        ([], "document 1 must be a mapping"),
    ],
    ids=range(65),
)  # fmt: skip
def test_loading_is_strict(tmp_path: Path, case: Any, message: str) -> None:
    with pytest.raises(SpecError) as error:
        read(tmp_path, case)
    assert message in str(error.value)
    assert str(error.value).startswith(f"{tmp_path / 'cases.yaml'}: ")


def test_a_wrong_case_hides_no_other(tmp_path: Path) -> None:
    path = tmp_path / "cases.yaml"
    path.write_text(f"{CASE}---\n{yaml.safe_dump({**mapping(), 'case': 'two', 'stepz': []})}---\n{CASE}")
    first, second, third = read_transcripts(path, strict=False)
    assert first.broken is None and first.steps
    assert second.name == "case 'two' (document 2)" and "stepz is not a field" in str(second.broken)
    assert "is there twice" in str(third.broken)


def test_a_name_is_there_once(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match="case 'one' is there twice"):
        read(tmp_path, CASE, CASE)


def test_a_file_that_is_none(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match="cannot be read"):
        read_transcripts(tmp_path / "none.yaml")
    with pytest.raises(SpecError, match="is not YAML"):
        read(tmp_path, "case: [")
    (tmp_path / "latin.yaml").write_bytes(b"case: \xe4")
    with pytest.raises(SpecError, match="must be a text in UTF-8"):
        read_transcripts(tmp_path / "latin.yaml")


# ---------------------------------------------------------------- refusals


def test_a_stage_that_a_rule_refuses_fails_its_own_case_only(tmp_path: Path) -> None:
    closing = {**mapping()["stage"], "trigger": {"after_count": 2}}
    refused, good = read(tmp_path, mapping(case="refused", stage=closing), CASE)
    assert good.refusal is None
    assert refused.stages == () and refused.steps == ()
    assert isinstance(refused.refusal, SpecError)
    assert str(refused.refusal).startswith("stage.trigger can finish before the window is complete")


@pytest.mark.parametrize(
    "change",
    [
        {"stage": {**mapping()["stage"], "explode": {"x": "array(v)"}, "trigger": {"after_count": 2},
                   "allow_closing": True}},
    ],
    ids=range(1),
)  # fmt: skip
def test_what_is_not_built_yet_fails_its_own_case_only(tmp_path: Path, change: dict[str, Any]) -> None:
    document = {key: value for key, value in mapping(case="later", **change).items() if value is not None}
    later, good = read(tmp_path, document, CASE)
    assert isinstance(later.refusal, NotInThisVersion)
    assert good.refusal is None


def test_a_refusal_that_is_expected(tmp_path: Path) -> None:
    document = {key: value for key, value in mapping(rejects="size").items() if key != "steps"}
    (accepted,) = read(tmp_path, document)
    assert (accepted.rejects, accepted.refusal, accepted.steps) == ("size", None, ())
    document["stage"] = {**document["stage"], "window": {"fixed": {"size": "0s"}}}
    (refused,) = read(tmp_path, document)
    assert "stage.window.fixed.size must be positive" in str(refused.refusal)


# ---------------------------------------------------------------- values


@pytest.mark.parametrize(
    ("kind", "value", "expected"),
    [
        ("bigint", 5, 5), ("tinyint", -128, -128), ("double", 1, 1.0), ("float", 0.5, 0.5), ("boolean", False, False),
        ("decimal(6, 2)", 0.1, Decimal("0.1")), ("decimal(6,2)", "9999.99", Decimal("9999.99")),
        ("decimal", 7, Decimal(7)),
        ("decimal(38, 2)", "9" * 36 + ".99", Decimal("9" * 36 + ".99")), ("decimal(2, 2)", "0.10", Decimal("0.10")),
        ("decimal(3, 0)", "1e2", Decimal("1e2")), ("decimal(1, 0)", "0.000", Decimal("0.000")),
       
        ("string", "", ""), ("date", "2000-02-29", date(2000, 2, 29)), ("binary", "ä", b"\xc3\xa4"),
        ("timestamp", 1, datetime(1970, 1, 1, 0, 0, 1, tzinfo=UTC)),
        ("timestamp_ntz", "12:00", datetime(2000, 1, 1, 12)),
        ("array<int>", [1], [1]), ("struct<a: int>", {"a": 1}, {"a": 1}), ("map<string, int>", {}, {}),
        ("bigint", None, None),
    ],
    ids=range(21),
)  # fmt: skip
def test_a_value_is_one_of_its_column_s_type(kind: str, value: Any, expected: Any) -> None:
    found = read_value(kind, value)
    assert found == expected
    assert type(found) is type(expected)


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("tinyint", 128), ("int", 2**31), ("int", True), ("int", "1"), ("double", "1"), ("double", True),
        ("boolean", 1),
        ("boolean", "true"), ("decimal(6, 2)", 0.001), ("decimal(6, 2)", 10000), ("decimal(6, 2)", "x"),
        ("decimal(6, 2)", True),
        ("decimal(6, 2)", float("nan")), ("decimal(38, 2)", "1e36"), ("decimal(38, 2)", "0.001"), ("decimal(2, 2)", 1),
        ("string", 1), ("date", "2000-02-30"), ("date", 1), ("timestamp", "noon"),
        ("timestamp", 1e15), ("binary", 1), ("array<int>", {}), ("struct<a: int>", []), ("map<string, int>", "x"),
    ],
    ids=range(25),
)  # fmt: skip
def test_a_value_of_another_type_is_refused(kind: str, value: Any) -> None:
    with pytest.raises(SpecError):
        read_value(kind, value)


def test_a_file_of_data_holds_no_case(tmp_path: Path) -> None:
    file = tmp_path / "points.yaml"
    file.write_text("points: [{value: 5}]\n")
    assert read_transcripts(file) == []
    file.write_text("cas: a\nstage: {}\n")
    with pytest.raises(SpecError, match=r"document 1\.cas"):
        read_transcripts(file)


# ---------------------------------------------------------------- several stages, several inputs

SUMS = {"name": "sums", "keys": ["k"], "window": {"fixed": {"size": "10s"}}, "aggregates": {"n": {"sum": "v"}}}
TOTAL = {"name": "total", "window": {"inherited": {}}, "aggregates": {"n": {"sum": "n"}}}
FIRST = {"add": [{"at": 1, "k": "a", "v": 2}], "watermark": 10}


def chain(**fields: Any) -> dict[str, Any]:
    expected = {"sums": [{"k": "a", "n": 2}], "total": [{"n": 2, "window": [0, 10]}]}
    elements = {"k": "string", "v": "long"}
    usual = {"case": "c", "stages": [SUMS, TOTAL], "elements": elements, "steps": [{**FIRST, "expect": expected}]}
    return {**usual, **fields}


def test_a_case_of_several_stages(tmp_path: Path) -> None:
    (case,) = read(tmp_path, chain())
    (step,) = case.steps
    assert case.is_chain and [stage.name for stage in case.stages] == ["sums", "total"]
    assert step.of("sums") is step and step.of("total").expect == (
        Expected(Named({"n": 2, "window": (0, 10_000_000)})),
    )


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"steps": [{**FIRST, "expect": {"totals": []}}]}, "must map the stages sums, total"),
        ({"steps": [{**FIRST, "expect": []}]}, "must map the stages"),
        ({"steps": [{**FIRST, "expect": {"total": [{"k": "a"}]}}]}, "k is not a field"),
        ({"steps": [{"add": [{"at": 1, "input": "x"}], "expect": {}}]}, "input is for inputs"),
        ({"steps": [{"watermarks": 1, "expect": {}}]}, "watermarks is not a field"),
        ({"stages": [SUMS, {**TOTAL, "from": "summs"}]}, "neither a source nor a stage before it"),
        ({"stages": [SUMS, {**TOTAL, "name": "sums"}]}, "is there twice"),
        ({"stages": [SUMS, {**TOTAL, "windows": {}}]}, "here it is called window"),
    ],
    ids=range(8),
)
def test_a_case_of_several_stages_is_read_strictly(tmp_path: Path, fields: dict[str, Any], message: str) -> None:
    with pytest.raises(SpecError, match=message):
        read(tmp_path, chain(**fields))


def test_stages_that_do_not_go_together_fail_their_own_case_only(tmp_path: Path) -> None:
    wrong = {**TOTAL, "aggregates": {"n": {"sum": "m"}}}
    refused, good = read(tmp_path, chain(stages=[SUMS, wrong]), chain(case="good"))
    assert "stages[1].aggregates.n is not a column here" in str(refused.refusal) and good.refusal is None
