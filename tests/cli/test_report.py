"""`windrow report`: where the page is written, what stands beside it, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree as xml

import pyarrow as pa
import pytest
from deltalake import write_deltalake

from tests.cli.command import windrow as command
from tests.cli.test_without_spark import SCHEMA, of_current
from tests.cli.test_wrong_input import refused, write
from windrow.drivers.inspect.reports.arrival import arrivals_of
from windrow.drivers.inspect.reports.days import over_days_of
from windrow.drivers.inspect.reports.index import MOST
from windrow.spec.pipelines.loading import load
from windrow.spec.times import HOUR, MINUTE, parse_time
from windrow.store.journal.audits import BEGIN
from windrow.store.journal.outcomes import OUTCOME
from windrow.store.reading.arrow import ArrowTables
from windrow.store.reading.pages import write_text


@pytest.fixture
def file(tmp_path: Path) -> Path:
    write_deltalake(tmp_path / "lake" / "sums" / "current", pa.Table.from_pylist([of_current("a", 0)], SCHEMA))
    return write(tmp_path)


@pytest.mark.parametrize("scheme", ["", "file://"])
def test_the_page_with_json_and_junit_beside_it(file: Path, tmp_path: Path, scheme: str) -> None:
    """At a path, and at a URI: there by the store of `deltalake`, as for any other."""
    folder = tmp_path / "a" / "b"
    found = command("report", file, "--output", f"{scheme}{folder}/monday.html", "--link", "https://airflow.example/1")
    assert (found.code, found.out, found.err) == (0, f"{scheme}{folder}/monday.html\n", "")
    assert sorted(path.name for path in folder.iterdir()) == ["monday.html", "monday.json", "monday.junit.xml"]
    assert 'href="https://airflow.example/1"' in (folder / "monday.html").read_text()
    told = json.loads((folder / "monday.json").read_text())
    assert (told["run"], told["state"], told["link"]) == ("stream", "running", "https://airflow.example/1")
    assert xml.fromstring((folder / "monday.junit.xml").read_text()).tag == "testsuites"


def test_the_index(file: Path, tmp_path: Path) -> None:
    assert command("report", file, "--index", "--output", tmp_path / "index.html").code == 0
    assert "No run has recorded anything yet." in (tmp_path / "index.html").read_text()


def test_jobs_that_have_found_nothing_take_no_run_from_the_index(file: Path, tmp_path: Path) -> None:
    """Of a stream that a scheduler starts every five minutes, and of maintenance, only the ends are in the audits."""
    about = {"start": 0, "end": HOUR, "stages": ["sums"]}
    rows = [{"run": "monday", "step": BEGIN, "subject": "", "result": json.dumps(about), "at": 1}]
    for number in range(MOST + 1):
        end = {"step": OUTCOME, "subject": "one stream", "result": '{"exit_code": 0, "message": ""}'}
        rows.append({"run": f"stream__{number}", **end, "at": 2 + number})
    write_deltalake(tmp_path / "lake" / "_windrow" / "audits", pa.Table.from_pylist(rows))
    assert command("report", file, "--index", "--output", tmp_path / "index.html").code == 0
    page = (tmp_path / "index.html").read_text()
    assert ">monday</a>" in page and "1 run &middot;" in page


def test_the_figures_over_time_are_of_the_tables(file: Path, tmp_path: Path) -> None:
    """Thirty hours: the watermark is an hour behind, some windows are corrected, and a tenth of the rows is late."""
    start = parse_time("2024-01-01T00:00:00Z")
    hours = range(30)
    moments = pa.timestamp("us", "UTC")
    lake = tmp_path / "lake"
    ticks = {
        "generation": [1] * 30, "tick": [n + 1 for n in hours], "now": [start + (n + 2) * HOUR for n in hours],
        "watermark": [start + (n + 1) * HOUR for n in hours], "assigned": [10] * 30, "late": [1] * 30,
    }  # fmt: skip
    types = {"now": moments, "watermark": moments, "window_start": moments, "window_end": moments}
    shown = [(n, 0, "on_time", n + 1) for n in hours] + [(n, 1, "late", n + 3) for n in hours[:-3:3]]
    panes = {
        "window_start": [start + n * HOUR for n, _, _, _ in shown],
        "window_end": [start + (n + 1) * HOUR for n, _, _, _ in shown],
        "on_time_index": [index for _, index, _, _ in shown], "timing": [timing for _, _, timing, _ in shown],
        "tick": [tick for _, _, _, tick in shown], "weight": [1] * len(shown),
    }  # fmt: skip
    raw = {
        "_event_time": [start + n * 10 * MINUTE for n in range(180)],
        "_arrival_time": [start + n * 10 * MINUTE + HOUR for n in range(180)],
    }  # fmt: skip
    for name, rows in (("sums/ticks", ticks), ("sums/panes", panes), ("clicks/raw", raw)):
        columns = {key: pa.array(values, types.get(key)) for key, values in rows.items()}
        write_deltalake(lake / name, pa.table(columns))
    found = ArrowTables()
    made = load(file)
    (figure,) = arrivals_of(found, made, None, None)
    assert sum(one.number for one in figure.panes) == len(shown) and len(figure.watermark) == 30
    assert figure.density is not None and 150 < figure.density.number <= 180
    (days,) = over_days_of(found, made, None, None)
    lag, right, late = (plot.series[0].points for plot in days.plots)
    assert {value for _, value in lag} == {HOUR}
    assert len(right) == 30 and sum(1 - value for _, value in right) == 9
    assert {round(value, 6) for _, value in late} == {0.1}
    done = command("report", file, "--from", "2024-01-01", "--to", "2024-01-03", "--output", tmp_path / "page.html")
    assert done.code == 0, done.err
    page = (tmp_path / "page.html").read_text()
    assert (
        "Watermark against arrival" in page
        and "Completeness of sums" in page
        and "39 panes: 30 on time, 9 late." in page
    )


def test_what_is_refused(file: Path) -> None:
    refused(command("report", file, "--index", "--run", "monday"), "--index is a page of all runs", "--run")
    refused(command("report", file, "--link", "javascript:alert(1)"), "--link must be an address that begins with http")
    refused(command("report", file, "--run", "monday"), '--run has left nothing in this lake; got "monday"')
    refused(command("report", file, "--run", "last"), '--run has left nothing in this lake; got "last"')


def test_a_long_text_is_written_whole_and_in_place_of_another(tmp_path: Path) -> None:
    for text in ("hé" * 400_000, "short"):
        write_text(f"file://{tmp_path}/new/page.html", text)
        assert (tmp_path / "new" / "page.html").read_text(encoding="utf-8") == text
