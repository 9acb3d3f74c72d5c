"""Which rows break a suite: the error, the audits and the page name their files, and what is to be typed is right."""

import json
import shlex
from pathlib import Path

import yaml
from deltalake import DeltaTable

from tests.cli.command import windrow
from tests.drivers.test_gates import pipeline, write_rows
from tests.lake import iso
from windrow.quality.broken_rows import find_broken_rows
from windrow.quality.located import LocatedRows
from windrow.quality.masking import Masking
from windrow.spec.fields.reading import Named
from windrow.spec.quality.expectations import Expectation
from windrow.spec.quality.judgements import GateResult
from windrow.spec.quality.suites import Suite
from windrow.view.report import page

IN_RANGE = {"expect": "column_values_to_be_between", "column": "v", "min_value": 0, "severity": "critical", "row": True}
THERE = {"expect": "column_values_to_not_be_null", "column": "k", "mostly": 0.5, "severity": "info"}
ONCE = {"expect": "compound_columns_to_be_unique", "column_list": ["k", "at"], "severity": "critical"}
DAY = ("--from", "2024-01-01", "--to", "2024-01-02")


def five_files(root: Path) -> None:
    """Fifty rows in five files: ten bad ones in `c d.json`, and one of `e.json` once more at its end."""
    for number, name in enumerate(("a.json", "b.json", "c d.json", "d.json", "e.json")):
        rows: list[dict[str, object]] = [{"at": iso(100 * number + index), "v": index} for index in range(10)]
        if name == "c d.json":
            rows += [{"at": iso(100 * number + 50 + index), "v": -1 - index} for index in range(10)]
        if name == "e.json":
            rows.append({"at": iso(100 * number + 7), "v": 7})
        write_rows(root, name, rows)


def judgements_of(root: Path, run: str) -> GateResult:
    """What the gate on the rows has recorded of a run, read from its JSON."""
    audits = DeltaTable(str(root / "lake" / "_windrow" / "audits")).to_pyarrow_table().to_pylist()
    (row,) = [row for row in audits if (row["run"], row["step"], row["subject"]) == (run, "gate", "rows")]
    return GateResult.from_mapping(json.loads(row["result"]))


def test_rows_and_keys_are_named_and_what_is_typed_takes_them_out(spark, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    five_files(tmp_path)
    file = tmp_path / "p.yaml"
    file.write_text(yaml.safe_dump(pipeline(tmp_path, [IN_RANGE, THERE, ONCE]).to_mapping()))
    words = (file, "--run", "monday", *DAY, "--output", "out/monday.html")
    assert windrow("step", "land", *words, "--whole").code == 0
    stopped = windrow("step", "gate_rows", *words)
    assert stopped.code == 3, stopped.err

    result = judgements_of(tmp_path, "monday")
    bad, _, repeated = (judgement.broken for judgement in result.judgements)
    assert bad is not None and repeated is not None and result.judgements[1].broken is None
    wrong, again = (f"file:{tmp_path}/data/{name}" for name in ("c d.json", "e.json"))
    assert (bad.rows, bad.number_of_files, [(f.file, f.broken, f.judged) for f in bad.files]) == (
        10,
        1,
        [(wrong, 10, 20)],
    )
    assert [row.values for row in bad.first] == [{"v": str(-1 - index)} for index in range(10)]
    assert {row.file for row in bad.first} == {wrong}
    assert (repeated.rows, repeated.number_of_keys) == (2, 1)
    assert [(f.file, f.broken, f.judged) for f in repeated.files] == [(again, 1, 11)]
    (key,) = repeated.keys
    assert (key.key, key.number, {row.file for row in key.rows}) == ({"k": "a", "at": iso(407)}, 2, {again})
    raw = spark.read.format("delta").load(str(tmp_path / "lake" / "rows" / "raw"))
    of_key = [(row["_step"], row["_row"]) for row in raw.where(f"at = '{iso(407)}'").orderBy("_row").collect()]
    assert [(row.step, row.row) for row in key.rows] == of_key

    lines = stopped.err.strip().splitlines()
    first, commands = lines[0], [line.strip() for line in lines if "windrow quarantine" in line]
    assert "between(v, min_value=0): 10 of 61 rows" in first and "out/monday.html has every expectation" in first
    assert any(f"{wrong}: 10 of 20 rows (50.00 %)" in line for line in lines)
    assert windrow("step", "report", *words).code == 0
    shown = (tmp_path / "out" / "monday.html").read_text()
    assert {name: f"/{name}.json" in shown for name in ("a", "b", "c d", "d", "e")} == {
        "a": False, "b": False, "c d": True, "d": False, "e": True,
    }  # fmt: skip
    assert all(command.split(" --file")[0] in shown for command in commands)
    assert shown.count("<tr><td>rows</td>") == 1, "one rule has rejected rows of one file"

    assert len(commands) == 2
    for command in commands:
        done = windrow(*shlex.split(command)[1:])
        assert done.code == 0, done.err
    for step in ("gate_rows", "compute", "gate_results", "publish"):
        assert windrow("step", step, *words).code == 0, step
    current = spark.read.format("delta").load(str(tmp_path / "lake" / "sums" / "current"))
    assert current.selectExpr("sum(num) AS num").collect()[0]["num"] == 30


def test_results_that_break_a_suite_are_named_by_their_keys_and_windows(spark, tmp_path: Path) -> None:
    write_rows(
        tmp_path, "a.json", [{"v": 1}, {"v": 2, "k": "b"}, {"at": iso(10)}]
    )  # the last one ends the first window
    some = {"expect": "column_values_to_be_between", "column": "num", "min_value": 2, "severity": "critical"}
    file = tmp_path / "p.yaml"
    file.write_text(yaml.safe_dump(pipeline(tmp_path, None, [some]).to_mapping()))
    stopped = windrow("run", file, "--once", "--drain")
    assert stopped.code == 1
    first, *lines = stopped.err.strip().splitlines()
    assert "gate of sums stops" in first and f"windrow report {file} has every expectation" in first
    assert lines[0].strip() == "column_values_to_be_between(num, min_value=2): 2 rows"
    assert [line.strip() for line in lines[1:]] == [
        "k=a, window_start=2024-01-01 01:00:00, window_end=2024-01-01 01:00:10, num=1",
        "k=b, window_start=2024-01-01 01:00:00, window_end=2024-01-01 01:00:10, num=1",
    ]


def test_rejected_rows_are_on_the_page_of_the_stream_by_rule_and_file(spark, tmp_path: Path) -> None:
    from windrow.drivers.inspect.report import report_of_stream
    from windrow.drivers.stream.stream import run
    from windrow.store.reading.arrow import ArrowTables

    five_files(tmp_path)
    made = pipeline(tmp_path, [IN_RANGE])
    run(made, spark, once=True)
    (rejected,) = report_of_stream(ArrowTables(), made, None, None).rejected
    assert (rejected.source, rejected.rule, rejected.rows) == (
        "rows",
        "column_values_to_be_between(v, min_value=0)",
        10,
    )
    assert rejected.file == f"file:{tmp_path}/data/c d.json"
    assert rejected.file in page(report_of_stream(ArrowTables(), made, None, None))


def test_no_value_of_a_masked_column_is_written_anywhere(spark, tmp_path: Path) -> None:
    """Neither where a row breaks a rule of single values, nor as a key, a figure, or what a stage makes of it."""
    people = [
        {"k": name, "at": iso(second)} for second, name in enumerate(("annabel", "bobby-jo", "annabel", "evelina"))
    ]
    write_rows(tmp_path, "a.json", people)
    rules = [
        {"expect": "column_values_to_be_in_set", "column": "k", "value_set": ["none"]},
        {"expect": "column_values_to_be_unique", "column": "k"},
        {"expect": "column_max_to_be_between", "column": "v", "max_value": 0},
        {"expect": "column_distinct_values_to_be_in_set", "column": "k", "value_set": ["none"]},
    ]
    made = pipeline(tmp_path, rules, [{"expect": "column_values_to_be_between", "column": "num", "min_value": 9}])
    (source,) = made.sources
    assert source.quality is not None
    mapping = made.to_mapping()
    mapping["sources"][0]["quality"] = {"suite": source.quality.suite, "mask": ["k", "v"]}
    file = tmp_path / "p.yaml"
    file.write_text(yaml.safe_dump(mapping))
    words = (file, "--run", "monday", *DAY, "--output", tmp_path / "monday.html")
    assert windrow("step", "land", *words, "--whole").code == 0
    stopped = windrow("step", "gate_rows", *words, "--attempt", "one")
    assert stopped.code == 3 and windrow("step", "report", *words).code == 0
    in_set, unique, most, distinct = judgements_of(tmp_path, "monday").judgements
    assert in_set.broken is not None and unique.broken is not None and distinct.broken is not None
    hashes = [row.values["k"] for row in in_set.broken.first]
    assert len(hashes) == 4 and len(set(hashes)) == 3 and all(text and text.startswith("***") for text in hashes)
    assert hashes[0] == hashes[2] == unique.broken.keys[0].key["k"]
    assert most.figure == "***" and set(distinct.examples) <= set(hashes) and set(in_set.examples) <= set(hashes)
    of_stage = windrow("run", file, "--once", "--drain", "--set", f"lake={tmp_path / 'other'}")
    assert of_stage.code == 1 and "k=***" in of_stage.err, of_stage.err
    texts = [stopped.err, of_stage.err, (tmp_path / "monday.html").read_text()]
    texts += [path.read_bytes().decode("latin-1") for path in (tmp_path / "lake/_windrow/audits").rglob("*.*")]
    audits = DeltaTable(str(tmp_path / "lake/_windrow/audits")).to_pyarrow_table().to_pylist()
    for text in [*texts, str(audits)]:
        assert not any(name in text for name in ("annabel", "bobby-jo", "evelina"))


def test_messages_are_counted_by_partition_and_named_by_their_offsets(spark) -> None:
    envelope = ["1L AS _step", "id AS _row", "id AS _event_time", "id AS _arrival_time"]
    envelope += ["CAST(id % 2 AS STRING) AS _partition", "CAST(100 + id AS STRING) AS _offset"]
    envelope += [f"CAST(NULL AS STRING) AS {name}" for name in ("_reason", "_rule", "_raw")]
    rows = spark.range(6).selectExpr(*envelope, "IF(id IN (1, 3, 4), NULL, id) AS v")
    missing = Expectation("column_values_to_not_be_null", Named({"column": "v"}))
    found = find_broken_rows(LocatedRows.of_source(rows), {7: missing}, Masking(Suite((missing,))))
    shares = [(one.name, one.broken, one.judged) for one in found[7].files]
    assert shares == [("partition 1", 2, 3), ("partition 0", 1, 3)]
    assert (found[7].rows, found[7].number_of_files) == (3, 0)
    assert [(row.partition, row.offset) for row in found[7].first] == [("1", "101"), ("1", "103"), ("0", "104")]
