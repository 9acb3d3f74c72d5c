"""Rows or values that are missing: the error, the audits, the page and its JSON say what share each partition has."""

import json
from pathlib import Path

import pytest
import yaml

from tests.cli.command import windrow
from tests.drivers.test_broken_rows import DAY, judgements_of
from tests.drivers.test_gates import pipeline, write_rows
from tests.lake import iso
from windrow.quality.located import LocatedRows
from windrow.quality.shares import find_shares
from windrow.spec.fields.reading import Named
from windrow.spec.quality.broken_rows import MOST
from windrow.spec.quality.expectations import Expectation
from windrow.spec.quality.shares import Share, Shares

ENOUGH = {"expect": "table_row_count_to_be_between", "min_value": 9, "severity": "critical"}
COMPLETE = {"expect": "column_values_to_not_be_null", "column": "v", "severity": "critical"}
OF_A = {"expect": "table_row_count_to_equal", "value": 9, "row_condition": "k = 'a'", "severity": "warning"}
NEXT_DAY = ("--from", "2024-01-02", "--to", "2024-01-03")


def by_key(root: Path, *rules: dict[str, object], mask: tuple[str, ...] = ()) -> Path:
    """The file of a pipeline whose source partitions are the values of `k`."""
    mapping = pipeline(root, list(rules)).to_mapping()
    (source,) = mapping["sources"]
    source |= {"partition": "k", "quality": {"suite": str(root / "rows.yaml"), "mask": list(mask)}}
    (root / "p.yaml").write_text(yaml.safe_dump(mapping))
    return root / "p.yaml"


def two_days(root: Path) -> None:
    """A day with the keys a, b and c; of the next one ten rows of a, and one of c, some without a value; none of b."""
    write_rows(root, "mon.json", [{"k": "a"}, {"k": "b"}, {"k": "c"}, {"k": "b", "at": iso(7)}])
    day = iso(0).replace("01-01", "01-02")
    rows = [{"at": day, "k": "a", "v": None if number < 2 else number} for number in range(5)]
    write_rows(root, "tue.json", [*rows, {"at": day, "k": "c", "v": None}])  # type: ignore[list-item]


def test_a_partition_that_is_missing_is_named_first(spark, tmp_path: Path) -> None:
    two_days(tmp_path)
    file = by_key(tmp_path, ENOUGH, COMPLETE, OF_A)
    words = (file, "--run", "tuesday", *NEXT_DAY, "--output", tmp_path / "page.html")
    assert windrow("step", "land", *words, "--whole").code == 0
    stopped = windrow("step", "gate_rows", *words)
    assert stopped.code == 3, stopped.err

    enough, complete, of_a = (one.shares for one in judgements_of(tmp_path, "tuesday").judgements)
    gone = Share(0, 6, "b", newest=iso(7))
    assert enough == Shares(3, (gone, Share(1, 6, "c"), Share(5, 6, "a")))
    assert complete == Shares(2, (Share(2, 5, "a"), Share(1, 1, "c")))
    assert of_a == Shares(3, (Share(0, 5, "b", newest=iso(7)), Share(0, 5, "c", newest=of_day(0)), Share(5, 5, "a")))

    lines = [line.strip() for line in stopped.err.strip().splitlines()]
    start = lines.index("table_row_count_to_be_between(min_value=9): 6")
    assert lines[start + 1 : start + 4] == [
        f"partition b: 0 of 6 rows (0.00 %), its newest row is of {iso(7)}",
        "partition c: 1 of 6 rows (16.67 %)",
        "partition a: 5 of 6 rows (83.33 %)",
    ]
    assert "partition a: 2 of 5 rows (40.00 %)" in lines
    assert sum("windrow quarantine" in line for line in lines) == 1, "of the file with missing values"

    assert windrow("step", "report", *words).code == 0
    text = (tmp_path / "page.html").read_text()
    assert f"<code>partition b</code>: 0 of 6 rows (0.00 %), its newest row is of {iso(7)}" in text
    (gate,) = json.loads((tmp_path / "page.json").read_text())["gates"]
    assert gate["judgements"][0]["shares"]["first"][0] == {
        "rows": 0, "of": 6, "partition": "b", "file": None, "newest": iso(7)
    }  # fmt: skip


def of_day(second: int) -> str:
    return iso(second).replace("01-01", "01-02")


def test_a_day_without_any_row_names_every_partition(spark, tmp_path: Path) -> None:
    two_days(tmp_path)
    words = (by_key(tmp_path, ENOUGH), "--run", "later", "--from", "2024-01-07", "--to", "2024-01-08")
    assert windrow("step", "land", *words, "--whole").code == 0
    assert windrow("step", "gate_rows", *words).code == 3
    (judgement,) = judgements_of(tmp_path, "later").judgements
    assert judgement.shares is not None
    assert [(one.name, one.rows, one.of) for one in judgement.shares.first] == [
        ("partition a", 0, 0), ("partition b", 0, 0), ("partition c", 0, 0),
    ]  # fmt: skip


def test_partitions_that_nobody_is_shown_are_not_named(spark, tmp_path: Path) -> None:
    """Rows are shared out by file then."""
    two_days(tmp_path)
    words = (by_key(tmp_path, ENOUGH, mask=("k",)), "--run", "tuesday", *NEXT_DAY)
    assert windrow("step", "land", *words, "--whole").code == 0
    stopped = windrow("step", "gate_rows", *words)
    assert stopped.code == 3 and "partition " not in stopped.err
    (judgement,) = judgements_of(tmp_path, "tuesday").judgements
    assert judgement.shares == Shares(1, (Share(6, 6, file=f"file:{tmp_path}/data/tue.json"),))


def test_a_source_without_partitions_is_shared_out_by_file(spark, tmp_path: Path) -> None:
    for name, number in (("a b", 3), ("c", 1), ("d", 7)):
        write_rows(tmp_path, f"{name}.json", [{}] * number)
    file = tmp_path / "p.yaml"
    file.write_text(pipeline(tmp_path, [{"expect": "table_row_count_to_equal", "value": 12}]).to_yaml())
    words = (file, "--run", "monday", *DAY)
    assert windrow("step", "land", *words, "--whole").code == 0
    stopped = windrow("step", "gate_rows", *words)
    assert stopped.code == 3 and f"file:{tmp_path}/data/c.json: 1 of 11 rows (9.09 %)" in stopped.err
    assert "windrow quarantine" not in stopped.err, "nothing is wrong with the rows that are there"


@pytest.mark.parametrize(
    ("bounds", "first"),
    [({"min_value": 10**6}, ["p00", "p01"]), ({"max_value": 1}, ["p29", "p28"]), ({"value": 1}, ["p29", "p28"])],
)
def test_many_partitions_are_listed_by_what_is_missing_or_too_much(spark, bounds: dict[str, int], first) -> None:  # type: ignore[no-untyped-def]
    """Partition `p07` has eight rows."""
    envelope = ["1L AS _step", "id AS _row", "id AS _event_time", "id AS _arrival_time"]
    envelope += ["format_string('p%02d', part) AS _partition", "CAST(id AS STRING) AS _offset"]
    envelope += [f"CAST(NULL AS STRING) AS {name}" for name in ("_reason", "_rule", "_raw")]
    rows = spark.range(30).selectExpr("id AS part", "explode(sequence(0L, id)) AS id").selectExpr(*envelope, "id AS v")
    name = "table_row_count_to_equal" if "value" in bounds else "table_row_count_to_be_between"
    (found,) = find_shares(LocatedRows.of_source(rows), {4: Expectation(name, Named(bounds))}).values()
    assert (found.number, len(found.first)) == (30, MOST)
    assert [one.partition for one in found.first[:2]] == first and {one.of for one in found.first} == {465}


def test_results_have_no_partitions(spark) -> None:
    rows = LocatedRows.of_results(spark.sql("SELECT 1 AS window_start, 2 AS window_end, 3 AS num"), [])
    few = Expectation("table_row_count_to_be_between", Named({"min_value": 5}))
    assert find_shares(rows, {0: few}) == {}
