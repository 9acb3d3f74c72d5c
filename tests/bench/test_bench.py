"""The bench runs from end to end on few rows, and says what it measured."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from bench import contest
from bench.bench import parse, report
from bench.contest import Contest
from bench.results import Ratio
from bench.workload import Scale

TINY = Scale(rows=20_000, batches=1, keys=100, rounds=1, small_rows=1000, small_ticks=0)


@pytest.mark.spark
def test_a_part_is_measured_by_itself(spark, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    results = Contest(spark, TINY, tmp_path / "bench", parts=frozenset({"backfill"})).run()
    assert {*results.rounds} == {contest.LANDING, contest.BACKFILL, contest.GROUP_BY}
    report(spark, TINY, results, tmp_path / "bench.json")
    assert {*json.loads((tmp_path / "bench.json").read_text())["rounds"]} == {*results.rounds}
    assert "speed: on time" not in capsys.readouterr().out


@pytest.mark.long
@pytest.mark.spark
def test_a_tiny_run_measures_everybody(spark, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    results = Contest(spark, TINY, tmp_path / "bench").run()
    report(spark, TINY, results, tmp_path / "bench.json")
    printed = capsys.readouterr().out
    assert "20,000 rows, 100 keys, 1 batches" in printed and "speed: on time" in printed
    written = json.loads((tmp_path / "bench.json").read_text())
    everybody = {contest.LANDING, contest.LANDING_RULES, contest.FILES, contest.SPARK_FILES,
                 contest.CHANGES, contest.ON_CLOSE, contest.BACKFILL,
                 contest.SESSIONS_ON_CLOSE, contest.SPARK_SESSIONS, contest.CHAIN, contest.SPARK_CHAIN,
                 contest.SLIDING_ON_CLOSE, contest.SPARK_SLIDING, contest.RECORD_BACKFILL}  # fmt: skip
    assert everybody < set(written["rounds"]) and len(written["rounds"]) == 19
    assert all(len(seconds) == 1 for seconds in written["rounds"].values())


@pytest.mark.long
@pytest.mark.spark
def test_parts_are_measured_by_themselves_in_rounds(spark, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    scale = replace(TINY, rounds=2)
    results = Contest(spark, scale, tmp_path / "bench", parts=frozenset({"sliding", "sessions"})).run()
    measured = {name: len(seconds) for name, seconds in results.rounds.items()}
    assert measured == {
        contest.LANDING: 1, contest.SPARK_SESSIONS: 2, contest.SESSIONS_ON_CLOSE: 2, contest.SPARK_SLIDING: 2,
        contest.SLIDING_ON_CLOSE: 2,
    }  # fmt: skip
    report(spark, scale, results, tmp_path / "bench.json")
    printed = capsys.readouterr().out
    assert "speed: 1 h by 1 m" in printed and "backfill" not in printed and "one batch of" not in printed


def test_a_ratio_says_whether_its_goal_is_met() -> None:
    assert Ratio("speed", 1.6, 1.5).met and not Ratio("speed", 1.4, 1.5).met
    assert Ratio("time", 1.4, 1.5, at_most=True).met and not Ratio("time", 1.6, 1.5, at_most=True).met
    assert Ratio("speed", 1.0).met is None


def test_how_much_is_measured_comes_from_the_environment_or_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROWS", "4000")
    monkeypatch.setenv("ROUNDS", "")
    assert (parse([]).rows, parse([]).rounds) == (4000, 1)
    assert parse(["--rows", "30"]).rows == 30
    assert parse(["--only", "sliding", "records"]).only == ["sliding", "records"] and parse([]).only is None
