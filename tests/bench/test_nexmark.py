"""Nexmark on few events: the generator, the check that tells results apart, and everybody's queries."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest

from bench.nexmark import by_flink, by_windrow
from bench.nexmark.__main__ import SPARK, WINDROW, Nexmark, parse, report
from bench.nexmark.by_flink import Flink, FlinkUnavailable
from bench.nexmark.check import Oracle
from bench.nexmark.events import COLUMNS, GROUP, PARTS, RATE, START, Data
from bench.nexmark.queries import QUERIES

EVENTS = 120_000
"""Twelve seconds of event time: windows that the watermark ends, and others that the end does."""


def generated(folder: Path, events: int = EVENTS, batches: int = 3) -> Data:
    data = Data(folder, events, batches)
    data.generate()
    return data


def lines(folder: Path) -> list[str]:
    return [line for file in sorted(folder.glob("*.csv")) for line in file.read_text().splitlines()]


def test_events_are_those_of_nexmark(tmp_path: Path) -> None:
    data = generated(tmp_path)
    kinds = {kind: lines(tmp_path / kind) for kind in COLUMNS}
    assert {kind: len(found) * 50 // EVENTS for kind, found in kinds.items()} == {
        "persons": 1,
        "auctions": 3,
        "bids": 46,
    }
    times = sorted(int(line.rsplit(",", 1)[1]) for found in kinds.values() for line in found)
    assert times == [START + number * 1000 // RATE for number in range(EVENTS)]
    assert len({line.split(",")[0] for line in kinds["auctions"]}) == len(kinds["auctions"]), "ids are their own"
    for kind in COLUMNS:
        assert len([*(tmp_path / kind).glob("*.csv")]) == data.batches * PARTS
        (last,) = lines(tmp_path / f"end-of-{kind}")
        assert int(last.rsplit(",", 1)[1]) > times[-1] + 3_000_000


def test_events_are_out_of_order_but_not_far(tmp_path: Path) -> None:
    generated(tmp_path, 20_000, 1)
    times = [int(line.rsplit(",", 1)[1]) for line in (tmp_path / "bids" / "00000-0.csv").read_text().splitlines()]
    greatest, behind = 0, []
    for time in times:
        greatest = max(greatest, time)
        behind.append(greatest - time)
    assert 0 < max(behind) <= GROUP * 1000 // RATE


def test_the_same_numbers_give_the_same_files(tmp_path: Path) -> None:
    one, other = (generated(tmp_path / name, 10_000, 2) for name in ("one", "other"))
    for kind in COLUMNS:
        assert lines(one.folder / kind) == lines(other.folder / kind)
        for parts in (1, PARTS):
            one.join(parts)
            assert len([*one.joined(kind).iterdir()]) == parts
            assert sorted(lines(one.joined(kind))) == sorted(lines(one.folder / kind))


@pytest.mark.parametrize("name", QUERIES)
def test_a_result_that_differs_is_seen(tmp_path: Path, name: str) -> None:
    query, oracle = QUERIES[name], Oracle(generated(tmp_path, 50_000, 1))
    with duckdb.connect() as database:
        columns = ", ".join(
            f"NULL::{kind.replace('string', 'varchar')} AS {one}" for one, kind in query.columns.items()
        )
        nothing = database.sql(f"SELECT {columns} LIMIT 0").to_arrow_table()
    missing = oracle.check(query, nothing)
    assert missing.rows and f"{missing.rows:,} rows missing, such as [(17040" in str(missing)
    found = oracle.expected(query)
    assert str(oracle.check(query, found)) == f"equal ({found.num_rows:,} rows)"
    assert oracle.check(query, found.slice(1)).differences[0].startswith("1 rows missing")
    assert (
        oracle.check(query, pa.concat_tables([found, found.slice(0, 1)])).differences[0].startswith("1 rows too many")
    )


def test_sessions_end_after_ten_seconds_without_a_bid(tmp_path: Path) -> None:
    (tmp_path / "bids").mkdir()
    times = (0, 10_000, 20_001)
    (tmp_path / "bids" / "0.csv").write_text("".join(f"1,7,100,channel 1,{START + time}\n" for time in times))
    for kind in ("persons", "auctions"):
        (tmp_path / kind).mkdir()
        (tmp_path / kind / "0.csv").touch()
    found = Oracle(Data(tmp_path, 3, 1)).expected(QUERIES["q11"]).to_pylist()
    assert sorted((row["window_start"] - START, row["window_end"] - START, row["num"]) for row in found) == [
        (0, 20_000, 2), (20_001, 30_001, 1),
    ]  # fmt: skip


@pytest.mark.parametrize("name", QUERIES)
def test_the_last_stage_has_the_columns_of_the_query(tmp_path: Path, name: str) -> None:
    made = by_windrow.pipeline(QUERIES[name], Data(tmp_path, 0, 1), tmp_path / "lake")
    assert made.stages[-1].name == name and {source.name for source in made.sources} == {*QUERIES[name].reads}


def test_without_flink_it_is_said_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    failed = subprocess.CompletedProcess([], 1, "", "Collecting\nERROR: no matching distribution\n")
    monkeypatch.setattr(by_flink.subprocess, "run", lambda *arguments, **options: failed)
    with pytest.raises(FlinkUnavailable, match="cannot be installed: ERROR: no matching distribution"):
        Flink(tmp_path)


def test_queries_are_chosen_by_name(capsys: pytest.CaptureFixture[str]) -> None:
    assert parse(["--only", "q12,q11"]).only == ["q11", "q12"] and parse([]).only == [*QUERIES]
    assert parse(["--events", "7", "--contestants", "flink"]).contestants == ["flink"]
    with pytest.raises(SystemExit):
        parse(["--only", "q4"])
    assert "q4: there are q5, q7, q8, q11, q12" in capsys.readouterr().err


@pytest.mark.spark
def test_windrow_gives_what_duckdb_does(spark, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = Nexmark(
        spark, Data(tmp_path / "data", EVENTS, 2), tmp_path / "run", [QUERIES["q12"]], frozenset({"windrow"})
    )
    made.run(1)
    assert not made.wrong and made.verdicts[f"q12 {WINDROW}"].startswith("equal (")
    report(made, 1, tmp_path / "nexmark.json", None)
    assert "120,000 events in 2 batches" in capsys.readouterr().out
    written = json.loads((tmp_path / "nexmark.json").read_text())
    assert {*written["rounds"]} == {f"q12 {WINDROW}"} and written["checks"] == made.verdicts


@pytest.mark.long
@pytest.mark.spark
@pytest.mark.parametrize("name", QUERIES)
def test_everybody_gives_what_duckdb_does(spark, tmp_path: Path, name: str) -> None:
    contestants = frozenset({"windrow", "spark"})
    made = Nexmark(spark, Data(tmp_path / "data", EVENTS, 3), tmp_path / "run", [QUERIES[name]], contestants)
    made.run(1)
    assert not made.wrong and {*made.verdicts} == {f"{name} {WINDROW}", f"{name} {SPARK}"}
