"""`windrow metrics` on a port, and `windrow lineage` to a service and of runs, without Spark."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.error import URLError
from urllib.request import Request, urlopen

import pyarrow as pa
import pytest
from deltalake import write_deltalake

from tests.cli.command import windrow as command
from tests.cli.test_without_spark import SCHEMA, of_current
from tests.cli.test_wrong_input import refused, write
from tests.servers import free_port
from windrow.spec.times import HOUR, SECOND, format_time, parse_time
from windrow.store.journal.audits import BEGIN

START = parse_time("2024-01-01T00:00:00Z")
OPEN_METRICS = "application/openmetrics-text; version=1.0.0"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    write_deltalake(tmp_path / "lake" / "sums" / "current", pa.Table.from_pylist([of_current("a", 0)], SCHEMA))
    return write(tmp_path)


def recorded(lake: Path, run: str, at: int, **steps: dict[str, Any]) -> None:
    """Leave what the steps of a run have found."""
    rows = [
        {
            "run": run,
            "step": step,
            "subject": "" if step == BEGIN else "sums",
            "result": json.dumps(found),
            "at": at + n,
        }
        for n, (step, found) in enumerate(steps.items())
    ]
    write_deltalake(lake / "_windrow" / "audits", pa.Table.from_pylist(rows), mode="append")


def test_a_port_answers_in_the_form_that_is_asked_for(file: Path) -> None:
    from prometheus_client.openmetrics.parser import text_string_to_metric_families

    port = free_port()
    words = [sys.executable, "-m", "windrow", "metrics", str(file), "--port", str(port)]
    process = subprocess.Popen(words, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stderr is not None and f"http://127.0.0.1:{port}/metrics" in process.stderr.readline()
        text, kind = scraped(port)
        assert kind.startswith("application/openmetrics-text")
        found = {family.name for family in text_string_to_metric_families(text)}
        assert {"windrow_source_rows", "windrow_read_timestamp"} & {name.removesuffix("_seconds") for name in found}
    finally:
        process.terminate()
        process.wait(10)


def scraped(port: int) -> tuple[str, str]:
    """What the port answers, once it does."""
    request = Request(f"http://127.0.0.1:{port}/metrics", headers={"Accept": OPEN_METRICS})
    for _ in range(100):
        try:
            with urlopen(request, timeout=10) as answer:
                return answer.read().decode(), answer.headers["Content-Type"]
        except URLError:
            time.sleep(0.1)
    raise AssertionError("the port does not answer")


def test_metrics_to_a_file_and_what_does_not_go_together(file: Path, tmp_path: Path) -> None:
    done = command("metrics", file, "--output", tmp_path / "x" / "windrow.prom")
    assert done.code == 0 and (tmp_path / "x" / "windrow.prom").read_text().endswith("# EOF\n")
    refused(
        command("metrics", file, "--port", "9464", "--dashboard"), "--port does not go with --output or --dashboard"
    )
    assert json.loads(command("metrics", file, "--dashboard").out)["title"] == "windrow"


class Service(BaseHTTPRequestHandler):
    """Keeps what it is sent, as a service of lineage does; refuses at a path of its own."""

    got: list[tuple[str, str | None, Any]] = []

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.got.append((self.path, self.headers.get("Authorization"), body))
        self.send_response(400 if self.path == "/refused" else 201)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def service() -> Iterator[str]:
    Service.got.clear()
    with HTTPServer(("127.0.0.1", 0), Service) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def test_events_are_sent_to_a_service(file: Path, service: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENLINEAGE_API_KEY", "secret")
    done = command("lineage", file, "--url", service)
    assert done.code == 0 and done.out == f"2 events sent to {service}\n"
    assert [(path, key) for path, key, _ in Service.got] == [("/api/v1/lineage", "Bearer secret")] * 2
    assert [event["job"]["name"].partition(".")[2] for _, _, event in Service.got] == ["clicks", "sums"]


def test_a_service_that_refuses_or_is_not_there_is_said(file: Path, service: str) -> None:
    done = command("lineage", file, "--url", f"{service}/refused")
    assert done.code == 1 and "/refused has refused event 1: 400" in done.err
    nowhere = command("lineage", file, "--url", f"http://127.0.0.1:{free_port()}")
    assert nowhere.code == 1 and "cannot be reached" in nowhere.err
    refused(command("lineage", file, "--url", "localhost:5000"), "--url must be an address that begins with http")
    refused(command("lineage", file, "--url", service, "--output", "x"), "--url does not go with --output")


ABOUT = {"start": START, "end": START + HOUR, "stages": ["sums"]}
PUBLISHED = {
    "windows": 5, "inserted": 3, "changed": 1, "retracted": 0, "tick": 7, "waiting": None,
    "start": START, "end": START + HOUR,
}  # fmt: skip


def events(file: Path, run: str) -> list[dict[str, Any]]:
    done = command("lineage", file, "--run", run)
    assert (done.code, done.err) == (0, "")
    return [json.loads(line) for line in done.out.splitlines()]


def test_a_run_that_has_published(file: Path, tmp_path: Path) -> None:
    recorded(tmp_path / "lake", "monday", START, **{BEGIN: ABOUT, "publish": PUBLISHED})
    start, end = events(file, "last")
    assert (start["eventType"], end["eventType"]) == ("START", "COMPLETE")
    assert end["eventTime"] == format_time(START + 1)
    assert end["job"]["facets"]["jobType"]["processingType"] == "BATCH"
    assert end["run"]["facets"]["nominalTime"]["nominalEndTime"] == "2024-01-01T01:00:00Z"
    rows = {one["name"].rpartition("/")[2]: one.get("outputFacets") for one in end["outputs"]}
    assert rows["current"]["outputStatistics"]["rowCount"] == 4 and rows["dead_letters"] is None
    assert events(file, "monday") == [start, end], "told again it is the same"


def test_a_run_that_a_gate_has_stopped_and_one_that_is_not_finished(file: Path, tmp_path: Path) -> None:
    judgement = {
        "expectation": "e",
        "severity": "critical",
        "outcome": "failed",
        "figure": "3 of 4 rows",
        "examples": [],
    }
    gate = {"subject": "sums", "rows": 4, "judgements": [judgement], "start": START, "end": START + HOUR}
    recorded(tmp_path / "lake", "tuesday", START, **{BEGIN: ABOUT, "gate": gate})
    recorded(tmp_path / "lake", "wednesday", START + SECOND, **{BEGIN: ABOUT})
    ended = {event["run"]["runId"]: event for event in events(file, "all")}
    assert sorted(event["eventType"] for event in ended.values()) == ["FAIL", "RUNNING"]
    (failed,) = (event for event in ended.values() if event["eventType"] == "FAIL")
    assert failed["run"]["facets"]["errorMessage"]["message"].startswith("Stopped by the gate of sums")


def test_a_run_that_nobody_knows(file: Path) -> None:
    refused(command("lineage", file, "--run", "last"), "--run has left nothing in this lake")
    assert events(file, "stream") == [] == events(file, "all")
