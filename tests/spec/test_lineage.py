"""Which columns a result is made of, and the names of data sets."""

from typing import Any

import pytest

from windrow.spec.pipelines.lineage import Lineage, Origin, lineage_of
from windrow.spec.pipelines.pipeline import Pipeline
from windrow.spec.sources.datasets import Dataset, dataset_at

HOUR = {"fixed": {"size": "1h"}}


def pipeline(*stages: dict[str, Any], **more: Any) -> Pipeline:
    source = {
        "name": "rows", "files": {"path": "data"}, "schema": "k string, v int, w double, at timestamp, gap string",
        "event_time": {"column": "at"}, "watermark": {"bounded_delay": "0s"},
    }  # fmt: skip
    return Pipeline.from_mapping({"pipeline": "p", "lake": "lake", "sources": [source], "stages": list(stages), **more})


def of(stage: dict[str, Any], *before: dict[str, Any]) -> Lineage:
    made = pipeline(*before, {"name": "s", "window": HOUR, **stage})
    return lineage_of(made, made.stage("s"))


def kinds(origins: tuple[Origin, ...]) -> set[tuple[str, str]]:
    return {(f"{one.read}.{one.column}", one.kind) for one in origins}


def test_keys_aggregates_and_what_is_derived_of_them() -> None:
    found = of({
        "keys": ["k", {"half": "v / 2"}],
        "aggregates": {"n": {"count": "*"}, "total": {"sum": "v * w"}},
        "derive": {"mean": "total / n", "twice": "half * 2"},
    })  # fmt: skip
    assert kinds(found.columns["k"]) == {("rows.k", "IDENTITY")}
    assert kinds(found.columns["half"]) == {("rows.v", "TRANSFORMATION")}
    assert found.columns["n"] == ()
    assert kinds(found.columns["total"]) == {("rows.v", "AGGREGATION"), ("rows.w", "AGGREGATION")}
    assert kinds(found.columns["mean"]) == kinds(found.columns["total"])
    assert kinds(found.columns["twice"]) == {("rows.v", "TRANSFORMATION")}
    assert kinds(found.columns["window_start"]) == {("rows.at", "TRANSFORMATION")}


def test_columns_that_select_makes_are_followed_to_those_that_are_read() -> None:
    found = of({
        "select": {"double": "v * 2", "sum_of_both": "double + w", "same": "k"},
        "keys": ["same"], "aggregates": {"total": {"sum": "sum_of_both"}},
    })  # fmt: skip
    assert kinds(found.columns["same"]) == {("rows.k", "IDENTITY")}
    assert kinds(found.columns["total"]) == {("rows.v", "AGGREGATION"), ("rows.w", "AGGREGATION")}


def test_what_decides_which_rows_count() -> None:
    found = of({
        "where": "w > 0", "keys": ["k"], "window": {"sessions": {"gap": "gap", "max_gap": "1h"}},
        "aggregates": {"total": {"sum": "v"}}, "having": "total > 10",
        "trigger": {"after_watermark": {"early": {"after_match": {"where": "w = 7"}}, "late": {"after_count": 1}}},
        "accumulation": "retracting",
    })  # fmt: skip
    assert kinds(found.all_rows) == {
        ("rows.w", "FILTER"), ("rows.k", "GROUP_BY"), ("rows.at", "WINDOW"), ("rows.gap", "WINDOW"),
        ("rows.v", "FILTER"), ("rows.w", "CONDITIONAL"),
    }  # fmt: skip
    assert not any(one.is_direct for one in found.all_rows)
    assert {one.words for one in found.all_rows if one.kind == "FILTER"} == {"`w` > 0", "`total` > 10"}


def test_a_stage_that_reads_a_stage_names_its_columns() -> None:
    hourly = {"name": "hourly", "keys": ["k"], "window": HOUR, "aggregates": {"n": {"sum": "v"}}}
    found = of(
        {"from": "hourly", "keys": [], "window": {"inherited": {}}, "aggregates": {"most": {"max": "n"}}}, hourly
    )
    assert kinds(found.columns["most"]) == {("hourly.n", "AGGREGATION")}
    assert kinds(found.columns["window_end"]) == {("hourly.window_end", "IDENTITY")}
    assert ("hourly.window_end", "WINDOW") in kinds(found.all_rows)


def test_a_join_and_a_cogroup_name_both_inputs() -> None:
    views = {
        "name": "views", "files": {"path": "views"}, "schema": "user string, page string, at timestamp",
        "event_time": {"column": "at"}, "watermark": {"bounded_delay": "0s"},
    }  # fmt: skip
    rows = (
        pipeline({"name": "x", "from": "rows", "window": HOUR, "aggregates": {"n": {"count": "*"}}})
        .sources[0]
        .to_mapping()
    )
    join = {
        "name": "both", "window": HOUR, "join": "inner",
        "inputs": {
            "left": {"from": "rows", "keys": ["k"], "columns": ["v"]},
            "right": {"from": "views", "keys": [{"k": "user"}], "columns": [{"address": "upper(page)"}]},
        },
    }  # fmt: skip
    groups = {
        "name": "groups", "window": HOUR,
        "inputs": {
            "left": {"from": "rows", "keys": ["k"], "aggregates": {"n": {"sum": "v"}}},
            "right": {"from": "views", "keys": [{"k": "user"}], "aggregates": {"pages": {"count_distinct": "page"}}},
        },
    }  # fmt: skip
    made = Pipeline.from_mapping({"pipeline": "p", "lake": "lake", "sources": [rows, views], "stages": [join, groups]})
    joined, grouped = (lineage_of(made, made.stage(name)) for name in ("both", "groups"))
    assert kinds(joined.columns["k"]) == {("rows.k", "IDENTITY"), ("views.user", "IDENTITY")}
    assert kinds(joined.columns["v"]) == {("rows.v", "IDENTITY")}
    assert kinds(joined.columns["address"]) == {("views.page", "TRANSFORMATION")}
    assert {("rows.k", "JOIN"), ("views.user", "JOIN"), ("rows.at", "WINDOW")} <= kinds(joined.all_rows)
    assert kinds(grouped.columns["n"]) == {("rows.v", "AGGREGATION")}
    assert kinds(grouped.columns["pages"]) == {("views.page", "AGGREGATION")}
    assert {("rows.k", "GROUP_BY"), ("views.user", "GROUP_BY")} <= kinds(grouped.all_rows)


def test_the_global_window_has_no_bounds() -> None:
    found = of({
        "window": {"global": {}}, "trigger": {"repeat": {"after_count": 2}}, "aggregates": {"n": {"count": "*"}},
    })  # fmt: skip
    assert found.columns["window_start"] == () and found.all_rows == ()


@pytest.mark.parametrize(
    ("path", "namespace", "name"),
    [
        ("/data/lake/x/", "file", "/data/lake/x"), ("file:///data/a%20b", "file", "/data/a b"),
        ("s3a://bucket/lake/x", "s3://bucket", "lake/x"), ("s3://bucket", "s3://bucket", "/"),
        ("gs://bucket/x", "gs://bucket", "x"), ("hdfs://node:8020/lake", "hdfs://node:8020", "/lake"),
        ("abfss://box@account.dfs.core.windows.net/x", "abfss://box@account.dfs.core.windows.net", "x"),
        ("https://user:secret@host/x", "https://host", "x"),
    ],
)  # fmt: skip
def test_names_of_data_sets(path: str, namespace: str, name: str) -> None:
    assert dataset_at(path) == Dataset(namespace, name)


def test_a_topic_is_named_by_the_first_of_its_servers() -> None:
    from windrow.spec.sources.kafka import Kafka

    kafka = Kafka(servers="${BROKERS}", topic="clicks")
    assert kafka.dataset(lambda text: text.replace("${BROKERS}", "one:9092, two:9092")) == Dataset(
        "kafka://one:9092", "clicks"
    )
