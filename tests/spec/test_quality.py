"""Quality suites: what is read, what is written again, and every way in which a suite is refused."""

from pathlib import Path
from typing import Any

import pytest

from windrow.spec.errors import SpecError
from windrow.spec.fields.schemas import Schema
from windrow.spec.pipelines.loading import load, suites_of
from windrow.spec.pipelines.masks import masks_of
from windrow.spec.pipelines.pipeline import Pipeline
from windrow.spec.quality.expectations import SHAPES, Expectation, Severity
from windrow.spec.quality.hidden import HIDDEN, hidden, without_values
from windrow.spec.quality.suites import Suite

SCHEMA = Schema.parse("k string, v int, at timestamp, price decimal(10, 2), items array<int>")
NOT_NULL = {"expect": "column_values_to_not_be_null", "column": "k"}
BETWEEN = {"expect": "column_values_to_be_between", "column": "v", "min_value": 1}


def test_a_suite_is_read_and_written() -> None:
    items = [{**NOT_NULL, "severity": "warning", "row": True}, {**BETWEEN, "mostly": 0.99}]
    suite = Suite.from_list(items)
    assert [e.severity for e in suite.expectations] == [Severity.WARNING, Severity.CRITICAL]
    assert suite.row_rules == (suite.expectations[0],)
    assert Suite.from_list(suite.to_list()) == suite
    assert suite.to_list() == [items[0], {**items[1], "severity": "critical"}]
    assert [str(e) for e in suite.expectations] == [
        "column_values_to_not_be_null(k)",
        "column_values_to_be_between(v, min_value=1, mostly=0.99)",
    ]


def test_the_name_of_great_expectations_itself_is_taken_too() -> None:
    assert Expectation.from_mapping({**NOT_NULL, "expect": "expect_" + NOT_NULL["expect"]}).expect == NOT_NULL["expect"]


@pytest.mark.parametrize(
    ("item", "message"),
    [
        ("not_null", "[0] must be a mapping with `expect`"),
        ({"expect": "not_null", "column": "k"}, "[0].expect.not_null is not a known expectation"),
        ({"expect": "column_values_to_not_be_nul", "column": "k"}, "did you mean column_values_to_not_be_null?"),
        ({"expect": NOT_NULL["expect"]}, "[0].column is missing"),
        ({**NOT_NULL, "colum": "k"}, "[0].colum is not an argument of column_values_to_not_be_null"),
        ({**NOT_NULL, "severity": "fatal"}, "[0].severity must be one of critical, warning, info"),
        ({**NOT_NULL, "severity": "error"}, "here it is called critical"),
        ({**NOT_NULL, "severity": ["critical"]}, "[0].severity must be one of critical, warning, info"),
        ({**NOT_NULL, 7: "k"}, "[0].7 is not an argument of column_values_to_not_be_null"),
        ({**BETWEEN, "max_value": 0}, "[0].max_value must not be below min_value"),
        ({**BETWEEN, "min_value": 10**40}, "[0].min_value"),
        ({"expect": "column_values_to_be_in_set", "column": "k", "value_set": []}, "[0].value_set must not be empty"),
        ({"expect": "column_values_to_match_regex", "column": "k", "regex": "["}, "must be a regular expression"),
        ({**NOT_NULL, "row": "yes"}, "[0].row must be true or false"),
        ({**NOT_NULL, "mostly": 1.5}, "[0].mostly must be a share above 0, at most 1"),
        ({"expect": BETWEEN["expect"], "column": "v"}, "[0].min_value is missing, and so is max_value"),
        ({**BETWEEN, "min_value": True}, "[0].min_value must be a number"),
        ({"expect": "column_values_to_be_unique", "column": "k", "row": True}, "[0].row is for expectations"),
        ({"expect": "table_row_count_to_equal", "value": -1}, "[0].value must not be negative"),
        ({**NOT_NULL, "column": "key"}, "[0].column is not a column here"),
        ({**BETWEEN, "column": "k"}, "[0].column is of the type string, and cannot be compared with"),
        ({**BETWEEN, "column": "at", "min_value": "yesterday"}, "[0].column is of the type timestamp"),
        ({**BETWEEN, "column": "at"}, "[0].column is of the type timestamp"),
        ({"expect": "column_values_to_match_regex", "column": "v", "regex": "x"}, "[0].column must be a string"),
        ({"expect": "column_mean_to_be_between", "column": "k", "min_value": 1}, "[0].column must be a number"),
        ({"expect": "column_values_to_be_in_set", "column": "v", "value_set": ["1"]}, "[0].column is of the type int"),
        (
            {"expect": "compound_columns_to_be_unique", "column_list": ["k", "w"]},
            "[0].column_list is not a column here",
        ),
        ({"expect": "unexpected_rows"}, "[0].condition is missing"),
        ({**NOT_NULL, "constraint": True}, "[0].constraint is for the results of a stage"),
        ({**NOT_NULL, "constraint": True, "severity": "info"}, "[0].constraint is for critical expectations"),
        ({"expect": "column_values_to_be_unique", "column": "k", "constraint": True}, "[0].constraint is for expect"),
        ({"expect": "unexpected_rows", "condition": "w > 1"}, "[0].condition is not a column here"),
        ({"expect": "unexpected_rows", "condition": "v in (select 1)"}, "[0].condition "),
        ({"expect": "unexpected_rows", "condition": "reflect('java.lang.System', 'exit', 1)"}, "[0].condition "),
        ({**NOT_NULL, "row_condition": "kk = 'a'"}, "[0].row_condition is not a column here"),
        ({"expect": "column_values_to_be_of_type", "column": "v", "type_": "number"}, "[0].type_ is not a type"),
        (
            {"expect": "table_columns_to_match_set", "column_set": ["k"], "row_condition": "v > 1"},
            "[0].row_condition is for expectations that are about rows",
        ),
    ],
    ids=range(37),
)
def test_what_a_suite_must_not_say(item: Any, message: str) -> None:
    with pytest.raises(SpecError) as refused:
        Suite.from_list([item]).check_source(SCHEMA)
    assert message in str(refused.value)


def test_what_fits_the_types() -> None:
    Suite.from_list(
        [
            {**BETWEEN, "column": "price", "min_value": 0.5}, {**BETWEEN, "column": "at", "min_value": "2013-01-01"},
            {"expect": "column_values_to_be_in_set", "column": "k", "value_set": ["a", "b"]},
            {"expect": "column_value_lengths_to_be_between", "column": "k", "max_value": 3},
            {"expect": "column_unique_value_count_to_be_between", "column": "k", "max_value": 3},
            {"expect": "unexpected_rows", "condition": "V < 0 and k is not null"},
            {**NOT_NULL, "row_condition": "price > 0"},
            {"expect": "column_values_to_be_of_type", "column": "v", "type_": "integer"},
            {"expect": "table_columns_to_match_set", "column_set": ["k", "later"], "exact_match": False},
        ]
    ).check_source(SCHEMA)  # fmt: skip


def test_a_stage_has_no_rules_of_rows() -> None:
    suite = Suite.from_list([{**NOT_NULL, "row": True}])
    with pytest.raises(SpecError, match=r"^\[0\].row is for the rows of a source"):
        suite.check_stage(["k"])


def test_every_shape_names_columns_that_are_checked() -> None:
    for name, shape in SHAPES.items():
        about_columns = {"column", "column_A", "column_list", "condition"} & set(shape.required)
        assert about_columns or name.startswith("table_"), name


def test_a_file_names_its_place(tmp_path: Path) -> None:
    pipeline = Path("conf/pipelines/flights.yaml")
    assert set(suites_of(load(pipeline))) == {"departures", "departures_hourly"}
    bad = tmp_path / "bad.yaml"
    bad.write_text("- {expect: column_values_to_not_be_null, column: orign}\n")
    with pytest.raises(SpecError) as refused:
        load(pipeline, {"sources.departures.quality": str(bad)})
    assert str(refused.value) == (f'{bad}: [0].column is not a column here; got "orign". Hint: did you mean origin?')
    with pytest.raises(SpecError, match=r"missing.yaml: cannot be read"):
        load(pipeline, {"sources.departures.quality": str(tmp_path / "missing.yaml")})


def masked(mask: list[str], **of_stage: Any) -> Pipeline:
    source = {
        "name": "people", "files": {"path": "data"}, "schema": "email string, age int, at timestamp",
        "event_time": {"column": "at"}, "watermark": {"bounded_delay": "0s"},
        "quality": {"suite": "people.yaml", "mask": mask},
    }  # fmt: skip
    stage = {
        "name": "mails", "select": {"host": "split(email, '@')[1]"}, "keys": ["host", "age"],
        "window": {"fixed": {"size": "1h"}},
        "aggregates": {"num": {"count_distinct": "email"}, "who": {"first": "email"}, "old": {"max": "age"}},
        "derive": {"short": "left(who, 3)"}, **of_stage,
    }  # fmt: skip
    behind = {
        "name": "behind", "from": "mails", "window": {"inherited": {}}, "keys": {"site": "upper(host)"},
        "aggregates": {"num": {"sum": "num"}, "all": {"max": "short"}},
    }  # fmt: skip
    return Pipeline.from_mapping(
        {"pipeline": "p", "lake": "lake", "sources": [source], "stages": [stage, behind] if not of_stage else [stage]}
    )


def test_what_is_made_of_a_masked_column_is_masked() -> None:
    pipeline = masked(["email"])
    assert masks_of(pipeline, pipeline.sources[0]) == {"email"}
    assert masks_of(pipeline, pipeline.stages[0]) == {"host", "who", "short"}
    assert masks_of(pipeline, pipeline.stages[1]) == {"site", "all"}
    named = masked([], quality={"suite": "mails.yaml", "mask": ["Old"]})
    assert masks_of(named, named.stages[0]) == {"old"}
    assert Pipeline.from_mapping(pipeline.to_mapping()) == pipeline
    assert named.sources[0].to_mapping()["quality"] == "people.yaml"


def test_hidden_values_are_still_told_apart_also_in_rows_within() -> None:
    values = {"who": "a@b", "n": 1, "rows": [{"Who": "a@b"}, {"Who": None}, {"Who": "c@d"}]}
    shown = without_values({"who"}, values, "secret")
    first, *others = [row["Who"] for row in shown["rows"]]
    assert shown["n"] == 1 and shown["who"] == first and first.startswith(HIDDEN) and "a@b" not in str(shown)
    assert others[0] is None and others[1] not in (first, "c@d") and first != hidden("a@b", "another")


def test_a_mask_is_of_a_column() -> None:
    with pytest.raises(SpecError, match=r"sources\[0\].quality.mask is not a column here.*did you mean email"):
        masked(["emai"])
    with pytest.raises(SpecError, match=r"stages\[0\].quality.mask is not a column here"):
        masked([], quality={"suite": "mails.yaml", "mask": ["email"]})
    with pytest.raises(SpecError, match=r"quality.masked is not a field. Hint: here it is called mask"):
        masked([], quality={"suite": "mails.yaml", "masked": ["old"]})


def test_no_stage_has_the_name_of_the_table_of_a_lake() -> None:
    with pytest.raises(SpecError, match=r"stages\[0\].name is taken by the table quality_results"):
        masked([], name="Quality_Results")
