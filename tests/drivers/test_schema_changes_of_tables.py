"""Delta tables as sources: columns have narrower types, other names, or are not there, and their schema changes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.drivers.test_schema_changes import COUNTS, SUMS, agrees, pipeline
from tests.lake import iso, table
from windrow.drivers.recompute.reconcile import reconcile
from windrow.drivers.recompute.restate import restate
from windrow.drivers.stream.stream import run
from windrow.spec.errors import SpecError
from windrow.spec.pipelines.pipeline import Pipeline

GATES = {**SUMS, "keys": ["k", "gate"]}


def over_table(root: Path, schema: str, *stages: Any, delta: dict[str, Any] | None = None, **source: Any) -> Pipeline:
    document = pipeline(root, schema, *stages, **source).to_mapping()
    del document["sources"][0]["files"]
    document["sources"][0]["delta"] = {"path": str(root / "table"), **(delta or {})}
    return Pipeline.from_mapping(document)


def append(spark: Any, root: Path, columns: str, *rows: tuple[Any, ...], **options: str) -> None:
    frame = spark.createDataFrame(list(rows), columns).coalesce(1).write.format("delta").mode("append")
    frame.options(**options).save(str(root / "table"))


@pytest.mark.parametrize("copy", [pytest.param(True, marks=pytest.mark.long), False], ids=["copied", "in place"])
def test_a_table_has_other_names_narrower_types_and_not_all_columns(spark, tmp_path: Path, copy: bool) -> None:
    append(spark, tmp_path, "amount int, k string, at string", (1, "a", iso(1)))
    made = over_table(
        tmp_path, "k string, v bigint, at string, gate string", GATES, delta={"copy": copy},
        rename={"amount": "v"}, defaults={"gate": "none"},
    )  # fmt: skip
    run(made, spark, once=True)
    append(spark, tmp_path, "amount int, k string, at string, gate string", (5, "a", iso(2), "A"), mergeSchema="true")
    run(made, spark, once=True, drain=True)
    found = {(row["gate"], row["total"]) for row in table(spark, tmp_path, "current").collect()}
    assert found == {("none", 1), ("A", 5)}
    agrees(spark, tmp_path, made)


@pytest.mark.parametrize(
    ("schema", "fields", "message"),
    [
        ("k string, v int, at string", {},
         'v has another type in the table; got "int". Hint: there it is bigint, to which it may be widened: v bigint'),
        ("k string, v string, at string", {}, 'has another type in the table; got "string". Hint: there it is bigint'),
        ("k string, v bigint, at string, gate string", {},
         "rows.schema.gate is no column of the table. Hint: it has k, v, at; a field of another name: rename, one"),
        ("k string, w int, at string", {"rename": {"v": "w"}}, "rows.schema.w has another type in the table"),
    ],
)  # fmt: skip
def test_what_a_table_refuses(spark, tmp_path: Path, schema: str, fields: dict[str, Any], message: str) -> None:
    append(spark, tmp_path, "k string, v long, at string", ("a", 1, iso(1)))
    with pytest.raises(SpecError) as refused:
        run(over_table(tmp_path, schema, COUNTS, **fields), spark, once=True)
    assert message in str(refused.value)


@pytest.mark.parametrize("changes", ["append", pytest.param("feed", marks=pytest.mark.long)])
def test_late_rows_of_a_table_are_the_same_rows_under_a_wider_schema(spark, tmp_path: Path, changes: str) -> None:
    """Those of a feed are told apart by what they held, with the types that they had then."""
    columns, stage = "k string, v int, at string", {**COUNTS, "trigger": {"repeat": {"after_count": 1}}}
    append(spark, tmp_path, columns, ("a", 1, iso(1)))
    spark.sql(f"ALTER TABLE delta.`{tmp_path}/table` SET TBLPROPERTIES (delta.enableChangeDataFeed = true)")
    before = over_table(tmp_path, columns, stage, delta={"changes": changes})
    run(before, spark, once=True)
    for second in (100, 200):
        append(spark, tmp_path, columns, ("a", 1, iso(second)))
        run(before, spark, once=True)
    append(spark, tmp_path, columns, ("a", 1, iso(2)), ("a", 2, iso(3)))
    run(before, spark, once=True)
    assert table(spark, tmp_path, "dead_letters", "counts").count() == 2
    after = over_table(tmp_path, "k string, v bigint, at string, x int", stage, delta={"changes": changes},
                       defaults={"x": 0})  # fmt: skip
    append(spark, tmp_path, columns, ("a", 3, iso(201)))
    run(after, spark, once=True)
    restate(after, spark)
    run(after, spark, once=True, drain=True)
    assert sum(row["num"] for row in table(spark, tmp_path, "current", "counts").collect()) == 6
    assert all(one.equal and one.late_rows == 0 for one in reconcile(after, spark))
