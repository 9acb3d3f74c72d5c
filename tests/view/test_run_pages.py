"""The pages of runs that have ended in every way, in a browser: stopped, green, waiting and restated.

Ten bad rows in one of five files and one pair of doubles stop the first run: its page and JSON name exactly these, and
the commands that it prints, pasted into a shell, make the next run green. The tests follow each other, over one lake.
"""

from __future__ import annotations

import html
import json
import os
import re
import subprocess
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
import yaml
from deltalake import DeltaTable

from demo.own_airflow import BIN, ROOT
from tests.cli.command import Result, windrow
from tests.lake import iso
from tests.view.browser import check_picture, needs_browser
from windrow.spec.quality.judgements import GateResult

pytestmark = [pytest.mark.spark, pytest.mark.long]

FILES = ("a", "b", "c d", "d", "e")
BAD, DOUBLED = "c d", "e"
ROWS, MINUTES = 100, 10
"""Of a file."""
FIRST, SECOND, THIRD = ("2024-01-01T01:00:00Z", "2024-01-01T02:00:00Z", "2024-01-01T03:00:00Z")
HOURS = {"first": ("--from", FIRST, "--to", SECOND), "second": ("--from", SECOND, "--to", THIRD)}
AIRPORTS = ("EWR", "JFK")
SUITES = {
    "departures": [
        {"expect": "column_values_to_be_between", "column": "delay", "min_value": 0, "row": True},
        {"expect": "compound_columns_to_be_unique", "column_list": ["airport", "at"]},
        {"expect": "column_values_to_be_between", "column": "delay", "max_value": 600, "severity": "warning"},
    ],
    "ten_minutes": [{"expect": "table_row_count_to_be_between", "min_value": 1}],
}  # fmt: skip
PIPELINE: dict[str, Any] = {
    "pipeline": "departures", "lake": "lake",
    "sources": [{
        "name": "departures", "files": {"path": "${DATA}"}, "schema": "at string, airport string, delay int",
        "event_time": {"column": "at", "format": "iso8601"}, "watermark": {"bounded_delay": "0s"},
        "quality": "departures.yaml",
    }],
    "stages": [{
        "name": "ten_minutes", "from": "departures", "keys": ["airport"], "window": {"fixed": {"size": "10m"}},
        "accumulation": "retracting", "quality": "ten_minutes.yaml",
        "trigger": {"after_watermark": {"late": {"after_count": 1}}},
        "aggregates": {"flights": {"count": "*"}, "mean_delay": {"mean": "delay"}},
    }],
}  # fmt: skip
WIDTHS = {"wide": 1200, "narrow": 400}
WRONG = "column_values_to_be_between(delay, min_value=0)"

Row = dict[str, Any]


@dataclass
class Project:
    """A project, and the pages of its runs, by how they have ended."""

    root: Path
    pages: dict[str, str]

    def write(self, name: str, rows: list[Row]) -> None:
        (self.root / "data" / f"{name}.json").write_text("".join(json.dumps(row) + "\n" for row in rows))

    def run(self, name: str, hour: str, *words: str) -> Result:
        """A run by the one job that a DAG submits for it, through publish."""
        attempt = ("--attempt", f"{name}-{uuid4().hex}")
        return windrow("step", "land", "p.yaml", "--run", name, *HOURS[hour], "--through", "publish", *attempt, *words)

    def report(self, name: str, kind: str) -> dict[str, Any]:
        """The page of a run, kept as that of a kind, and the same for machines."""
        done = windrow("report", "p.yaml", "--run", name, "--output", f"out/{kind}.html")
        assert done.code == 0, done.err
        self.pages[kind] = (self.root / "out" / f"{kind}.html").read_text()
        return dict(json.loads((self.root / "out" / f"{kind}.json").read_text()))

    def shown(self) -> Counter[tuple[str, str]]:
        rows = DeltaTable(str(self.root / "lake/ten_minutes/current")).to_pyarrow_table().to_pylist()
        return Counter({(row["airport"], f"{row['window_start']:%H:%M}"): row["flights"] for row in rows})


def rows_of(number: int) -> list[Row]:
    """What a file has when it is right."""
    seconds = range(60 * MINUTES * number, 60 * MINUTES * (number + 1), 60 * MINUTES // ROWS)
    return [{"at": iso(second), "airport": AIRPORTS[index % 2], "delay": index} for index, second in enumerate(seconds)]


def right(*numbers: int) -> Counter[tuple[str, str]]:
    """The flights of every window, by a plain count."""
    rows = [row for number in numbers for row in rows_of(number)]
    return Counter((row["airport"], f"{row['at'][11:15]}0") for row in rows)


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """The five files, and a row behind the end of their hour."""
    made = Project(tmp_path_factory.mktemp("pages"), {})
    (made.root / "data").mkdir()
    (made.root / "p.yaml").write_text(yaml.safe_dump(PIPELINE, sort_keys=False))
    for name, suite in SUITES.items():
        (made.root / f"{name}.yaml").write_text(yaml.safe_dump(suite))
    for number, name in enumerate(FILES):
        rows = rows_of(number)
        if name == BAD:
            rows[40:50] = [{**row, "delay": -1 - index} for index, row in enumerate(rows[40:50])]
        if name == DOUBLED:
            rows.append(rows[7])
        made.write(name, rows)
    made.write("f", [{"at": iso(3600 + 60), "airport": "JFK", "delay": 1}])
    return made


@pytest.fixture(autouse=True)
def here(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(project.root)
    monkeypatch.setenv("DATA", str(project.root / "data"))  # the session of the tests is in another folder


def pasted(command: str, folder: Path) -> None:
    """A command, as somebody pastes it into a shell."""
    environment = {
        **os.environ, "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": os.pathsep.join([str(ROOT / "lib"), str(ROOT)]),
    }  # fmt: skip
    done = subprocess.run(command, shell=True, cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_a_stopped_run_names_exactly_the_broken_rows_and_what_it_prints_mends_it(spark, project: Project) -> None:
    stopped = project.run("monday", "first")
    assert stopped.code == 3, stopped.err
    told = project.report("monday", "stopped")
    (gate,) = [GateResult.from_mapping(gate) for gate in told["gates"] if gate["subject"] == "departures"]
    broken = {judgement.expectation: judgement.broken for judgement in gate.judgements if judgement.broken}
    assert len(broken) == 2
    bad = broken.pop(WRONG)
    (repeated,) = broken.values()
    assert (bad.rows, [(Path(one.file or "").stem, one.broken, one.judged) for one in bad.files]) == (
        10, [(BAD, 10, ROWS)],
    )  # fmt: skip
    assert [row.values["delay"] for row in bad.first] == [str(-1 - index) for index in range(10)]
    again = rows_of(FILES.index(DOUBLED))[7]
    assert [(key.key, key.number) for key in repeated.keys] == [({"airport": again["airport"], "at": again["at"]}, 2)]
    page = project.pages["stopped"]
    assert {name for name in (*FILES, "f") if f"/{name}.json" in page} == {BAD, DOUBLED}
    commands = [html.unescape(found) for found in re.findall(r"<code>(windrow quarantine .*?)</code>", page)]
    assert commands == told["quarantines"] and len(commands) == 2
    assert all(command in stopped.err for command in commands)
    for command in commands:
        pasted(command, project.root)
    green = project.run("tuesday", "first")
    assert green.code == 0, green.err
    assert project.report("tuesday", "green")["state"] == "published"
    assert project.shown() == right(*(number for number, name in enumerate(FILES) if name not in (BAD, DOUBLED)))


def test_a_run_waits_and_what_lands_late_is_restated(spark, project: Project) -> None:
    """The corrected files land late, with a row for a window that has been published."""
    for name in (BAD, DOUBLED):
        project.write(f"{name} corrected", rows_of(FILES.index(name)))
    late = {"at": iso(30), "airport": "EWR", "delay": 700}
    project.write("late", [late])
    waits = project.run("wednesday", "second", "--wait")
    assert waits.code == 4, waits.err
    told = project.report("wednesday", "waiting")
    assert told["state"] == "waiting" and "have not expired" in " ".join(told["waiting"])
    project.write("g", [{"at": iso(2 * 3600 + 60), "airport": "JFK", "delay": 2}])
    assert project.run("wednesday", "second", "--wait").code == 0
    restated = windrow("restate", "p.yaml")
    assert restated.code == 0, restated.err
    told = project.report("last", "restated")
    (changed,) = told["changed"]
    assert (changed["different"], changed["only_there"]) == (1, 0)
    (one,) = [one for one in changed["differing"] if one["there"] is not None]
    assert (one["there"]["flights"], one["here"]["flights"]) == (ROWS // 2, ROWS // 2 + 1)
    assert {window: n for window, n in project.shown().items() if window[1] < "02:00"} == right(*range(5)) + Counter(
        {("EWR", "01:00"): 1}
    )
    compared = windrow("reconcile", "p.yaml")
    assert compared.code == 0, compared.out + compared.err


@needs_browser
@pytest.mark.parametrize("kind", ["stopped", "green", "waiting", "restated", "stream", "index"])
@pytest.mark.parametrize("screen", WIDTHS)
def test_the_pages_fit_a_screen(project: Project, screen: str, kind: str, tmp_path: Path) -> None:
    """Of the runs before, of the stream, and of all runs."""
    if kind not in project.pages:
        words = ["--index"] if kind == "index" else []
        assert windrow("report", "p.yaml", *words, "--output", f"out/{kind}.html").code == 0
        project.pages[kind] = (project.root / "out" / f"{kind}.html").read_text()
    check_picture(project.pages[kind], f"run-{kind}-{screen}", WIDTHS[screen], tmp_path)
