"""What Airflow does around the jobs, in its own scheduler and over lakes: who runs behind a publish, what stops whom.

The jobs leave in the lake what steps leave, and do nothing else (`submits.py`). One Airflow; the tests follow each
other.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from demo.own_airflow import ROOT, Airflow
from tests.airflow import submits
from windrow.drivers.inspect.reports.pages import page_name

pytestmark = [pytest.mark.airflow, pytest.mark.long]

FILE = """
pipeline: {name}
lake: {name}/lake
sources:
  - name: clicks
    files: {{path: {name}/data, format: json}}
    schema: "at string"
    event_time: {{column: at, format: iso8601}}
    watermark: {{bounded_delay: 1h}}
stages:
  - name: hourly
    from: clicks
    window: {{fixed: {{size: 1h}}}}
    trigger: at_watermark
    accumulation: discarding
    aggregates: {{clicks: {{count: "*"}}}}{of_stage}
schedule:
  {{spark: {{connection: spark_local}}, retries: 0, restate: late, poke_interval: 2s, execution_timeout: 40s,
   deadline: 20s{more}}}
"""
MORE = {"clicks": "", "views": ', stream: long, maintain: "* * * * *"', "stale": ""}
OF_STAGE = {"stale": "\n    freshness: {warn: 2h, error: 20d}"}
DAGS = """
from airflow.sdk import DAG, Asset, AssetAlias, task

from windrow.airflow import DagOptions, dags_of


def write(name, text):
    with open(f"{project}/{{name}}", "a") as file:
        file.write(f"{{text}}\\n")


options = DagOptions(
    on_failure=lambda context: write("failures", context["dag_run"].run_id),
    on_warning=lambda context: write("warnings", [context["run_id"], *context["warnings"]]),
)
globals().update(dags_of("pipelines", {project!r}, options))
consumers = {{
    "by_table": Asset.ref(name="clicks/hourly"), "by_pipeline": AssetAlias("clicks"), "of_views": AssetAlias("views")
}}
for name, schedule in consumers.items():
    with DAG(name, schedule=[schedule], catchup=False, is_paused_upon_creation=False) as globals()[name]:
        task(lambda: None, task_id="read")()
"""
RUN = {"from": "2024-01-01T00:00:00+00:00", "to": "2024-01-02T00:00:00+00:00"}
CONSUMERS = ("by_table", "by_pipeline")


@dataclass
class Scheduled:
    """An Airflow with the DAGs of two pipelines, each with a lake of its own, and two consumers of one of them."""

    airflow: Airflow
    project: Path

    def lake(self, pipeline: str) -> Path:
        return self.project / pipeline / "lake"

    def trigger(self, dag: str, run: str) -> None:
        body = {"dag_run_id": run, "logical_date": None, "conf": RUN}
        self.airflow.ask(f"/api/v2/dags/{dag}/dagRuns", body)

    def state_of(self, dag: str, run: str, seconds: float = 180) -> str:
        """The state in which a run ends."""
        until = time.monotonic() + seconds
        while (state := self.airflow.runs(dag).get(run, "")) not in ("success", "failed"):
            assert time.monotonic() < until, (state, self.airflow.tasks(dag, run))
            time.sleep(0.5)
        return state

    def returned(self, dag: str, run: str, task: str) -> str:
        """What a task has returned, as its page shows it."""
        entry = f"/api/v2/dags/{dag}/dagRuns/{quote(run)}/taskInstances/{task}/xcomEntries/return_value"
        return str(self.airflow.ask(entry)["value"]).strip('"')

    def events(self) -> list[dict[str, Any]]:
        return list(self.airflow.ask("/api/v2/assets/events?order_by=timestamp")["asset_events"])

    def consumed(self, at_least: int) -> list[int]:
        """How often each consumer has run, when all have run so often and nothing is left that they could run for."""
        until = time.monotonic() + 60
        while min(found := [len(self.airflow.runs(dag)) for dag in CONSUMERS]) < at_least:
            assert time.monotonic() < until, found
            time.sleep(0.5)
        time.sleep(4)
        return [len(self.airflow.runs(dag)) for dag in CONSUMERS]


@pytest.fixture(scope="module")
def scheduled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scheduled]:
    root = tmp_path_factory.mktemp("scheduled")
    for folder in ("bin", "dags", "project/pipelines"):
        (root / folder).mkdir(parents=True)
    project = root / "project"
    for name, more in MORE.items():
        text = FILE.format(name=name, more=more, of_stage=OF_STAGE.get(name, ""))
        (project / "pipelines" / f"{name}.yaml").write_text(text)
    submits.tell(project / "views" / "lake", "stream", hangs=3600)
    (root / "dags" / "all.py").write_text(DAGS.format(project=str(project)))
    submits.install(root / "bin")
    more = {
        "AIRFLOW__CORE__DAGS_FOLDER": str(root / "dags"),
        "AIRFLOW__SCHEDULER__PARSING_CLEANUP_INTERVAL": "5",  # from then on it knows an asset that an alias has brought
        "PATH": f"{root / 'bin'}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "lib")]),
    }
    airflow = Airflow(root / "home", project, project / "pipelines", more)
    with airflow.running():
        airflow.command("dags", "reserialize")
        dags = {
            "clicks": ("backfill", "restate"),
            "views": ("backfill", "stream", "maintain", "events"),
            "stale": ("backfill",),
        }
        for dag in [f"{pipeline}_{kind}" for pipeline, kinds in dags.items() for kind in kinds]:
            airflow.command("dags", "unpause", dag)
        yield Scheduled(airflow, project)


def test_consumers_run_once_for_a_changed_publish_and_not_for_an_unchanged_one(scheduled: Scheduled) -> None:
    submits.tell(scheduled.lake("clicks"), "publish", tick=3, inserted=24)
    scheduled.trigger("clicks_backfill", "first")
    assert scheduled.state_of("clicks_backfill", "first") == "success"
    (event,) = scheduled.events()
    assert (event["name"], event["uri"]) == (
        "clicks/hourly", (scheduled.lake("clicks") / "hourly" / "current").as_uri()
    )  # fmt: skip
    assert event["extra"] == {
        "run": "clicks__first", "stage": "hourly", "from": "2024-01-01T00:00:00Z", "to": "2024-01-02T00:00:00Z",
        "generation": 1, "tick": 3, "inserted": 24, "changed": 0, "retracted": 0,
    }  # fmt: skip
    assert scheduled.consumed(1) == [1, 1]
    submits.tell(scheduled.lake("clicks"), "publish", tick=None, inserted=0)
    scheduled.trigger("clicks_backfill", "second")
    assert scheduled.state_of("clicks_backfill", "second") == "success"
    assert (len(scheduled.events()), scheduled.consumed(1)) == (1, [1, 1])


def test_a_publish_that_is_made_again_tells_of_no_commit_twice(scheduled: Scheduled) -> None:
    submits.tell(scheduled.lake("clicks"), "publish")
    began = datetime.now(UTC)
    again = {"dag_run_id": "first", "task_ids": ["publish"], "dry_run": False, "only_failed": False}
    scheduled.airflow.ask("/api/v2/dags/clicks_backfill/clearTaskInstances", again)
    assert scheduled.airflow.wait_for("clicks_backfill", 1, began) == {"first": "success"}
    assert submits.made(scheduled.lake("clicks")).count("publish") == 3
    assert (len(scheduled.events()), scheduled.consumed(1)) == (1, [1, 1])


def test_late_rows_are_restated_when_they_are_there_and_once(scheduled: Scheduled) -> None:
    lake = scheduled.lake("clicks")
    submits.tell(lake, "publish", late=7)
    submits.tell(lake, "restate", tick=8, inserted=1)
    scheduled.trigger("clicks_backfill", "third")
    assert scheduled.state_of("clicks_backfill", "third") == "success"
    submits.tell(lake, "publish")
    assert scheduled.consumed(2) == [2, 2]
    (restatement,) = scheduled.airflow.runs("clicks_restate")
    assert scheduled.state_of("clicks_restate", restatement) == "success"
    late, restated = scheduled.events()[1:]
    assert (late["name"], late["extra"]["payload"]) == (
        "clicks/late rows",
        {"late": {"hourly": {"rows": 1, "tick": 7}}},
    )
    named = f"restate__clicks__{restatement}"
    assert (restated["name"], restated["extra"]["run"]) == ("clicks/hourly", named)
    assert scheduled.airflow.tasks("clicks_restate", restatement)["report"] == "success"
    path = scheduled.returned("clicks_restate", restatement, "report")
    assert Path(path).name == page_name("clicks", named)
    page = Path(path).read_text()
    assert "Published: hourly." in page and f"<code>{named}</code>" in page and "the task</a>" in page


def test_a_gate_that_stops_leaves_nothing_staged_and_whoever_wants_to_know_is_told(scheduled: Scheduled) -> None:
    lake = scheduled.lake("clicks")
    submits.tell(lake, "publish", warns="none of 3")
    staged = {run: lake / "_windrow" / "staging" / f"clicks__{run}" / "hourly-1-0-1" for run in ("green", "red")}
    for folder in staged.values():
        folder.mkdir(parents=True)
    scheduled.trigger("clicks_backfill", "green")
    assert scheduled.state_of("clicks_backfill", "green") == "success"
    submits.tell(lake, "gate_results", code=3, message="windrow: the gate of hourly stops: two")
    scheduled.trigger("clicks_backfill", "red")
    assert scheduled.state_of("clicks_backfill", "red") == "failed"
    assert scheduled.airflow.tasks("clicks_backfill", "red") == {
        "land": "success", "gate_rows": "success", "compute": "success", "gate_results": "failed",
        "publish": "upstream_failed", "clean": "success", "report": "success",
    }  # fmt: skip
    assert [folder.parent.exists() for folder in staged.values()] == [False, False]
    assert (scheduled.project / "warnings").read_text() == "['green', 'hourly: table_row_count: none of 3']\n"
    submits.tell(lake, "gate_results")


def test_a_job_that_hangs_fails_at_its_timeout_and_stops_no_other_lake(scheduled: Scheduled) -> None:
    submits.tell(scheduled.lake("views"), "land", hangs=3600)
    scheduled.trigger("views_backfill", "hung")
    while scheduled.airflow.tasks("views_backfill", "hung").get("land") != "running":
        time.sleep(0.5)
    scheduled.trigger("clicks_backfill", "beside")
    assert scheduled.state_of("clicks_backfill", "beside") == "success"
    assert scheduled.state_of("views_backfill", "hung") == "failed"
    tasks = scheduled.airflow.tasks("views_backfill", "hung")
    assert (tasks["land"], tasks["compute"], tasks["report"]) == ("failed", "upstream_failed", "skipped")
    jobs = [line for line in processes() if "tests.airflow.submits" in line and "views.yaml" in line]
    assert not [line for line in jobs if " land " in line], "it was ended"


def test_a_run_that_is_not_over_at_its_deadline_is_told_of(scheduled: Scheduled) -> None:
    log = (scheduled.airflow.home / "triggerer.log").read_text()
    assert "The run hung of views_backfill has missed its deadline" in log


def test_a_run_that_has_failed_is_told_of_once(scheduled: Scheduled) -> None:
    """By the DAG processor, which may take a while."""
    until = time.monotonic() + 60
    while (told := (scheduled.project / "failures").read_text().split()) != ["red", "hung"]:
        assert time.monotonic() < until, told
        time.sleep(1)


def test_a_stream_goes_on_and_maintenance_comes_by_the_clock(scheduled: Scheduled) -> None:
    """All the while: the stream takes no slot of its lake, and nothing ends it."""
    ((stream, state),) = scheduled.airflow.runs("views_stream").items()
    assert (state, scheduled.airflow.tasks("views_stream", stream)) == ("running", {"stream": "running"})
    until = time.monotonic() + 90
    while "success" not in scheduled.airflow.runs("views_maintain").values():
        assert time.monotonic() < until
        time.sleep(1)
    assert "maintain" in submits.made(scheduled.lake("views"))


def test_what_a_stream_that_goes_on_shows_is_told_of_once_a_look(scheduled: Scheduled) -> None:
    lake, airflow = scheduled.lake("views"), scheduled.airflow
    assert "running" in airflow.runs("views_stream").values() and not airflow.runs("of_views")

    def consumed(times: int) -> list[dict[str, Any]]:
        """What the events of the table say, when its consumer has run so often and nothing is left for it."""
        until = time.monotonic() + 90
        while len(airflow.runs("of_views")) < times:
            assert time.monotonic() < until, (airflow.runs("views_events"), scheduled.events())
            time.sleep(0.5)
        time.sleep(6)
        assert len(airflow.runs("of_views")) == times
        return [event["extra"] for event in scheduled.events() if event["name"] == "views/hourly"]

    submits.show(lake, 1, panes=7)
    (first,) = consumed(1)
    assert {name: first[name] for name in ("stage", "tick", "panes", "retractions")} == {
        "stage": "hourly", "tick": 1, "panes": 7, "retractions": 0,
    }  # fmt: skip
    submits.show(lake, 2, panes=0)
    submits.show(lake, 3, panes=2)
    assert [extra["tick"] for extra in consumed(2)] == [1, 3]


def test_results_that_grow_stale_while_a_run_waits_are_told_of_once_and_it_waits_on(scheduled: Scheduled) -> None:
    """Fresh when it begins to wait; the triggerer wakes the task to tell, which is deferred again without a new job."""
    lake, warnings = scheduled.lake("stale"), scheduled.project / "warnings"
    before, data = len(warnings.read_text().splitlines()), lake.parent / "data"
    data.mkdir(parents=True)
    submits.tell(lake, "land", code=4, message="windrow: waits: hourly", until={"hourly": 1_704_160_800_000_000})
    submits.complete(lake, datetime.now(UTC) - timedelta(hours=2) + timedelta(seconds=25))
    scheduled.trigger("stale_backfill", "waits")
    until = time.monotonic() + 120
    while len(lines := warnings.read_text().splitlines()[before:]) < 1:
        assert time.monotonic() < until, scheduled.airflow.tasks("stale_backfill", "waits")
        time.sleep(0.5)
    assert submits.made(lake) == ["land"]
    assert lines[0].startswith("['waits', 'hourly: warn: complete up to ")
    submits.tell(lake, "land")
    (data / "new.json").touch()
    assert scheduled.state_of("stale_backfill", "waits") == "success"
    assert len(warnings.read_text().splitlines()) == before + 1, "once, and not behind the publish of a run by hand"
    assert scheduled.airflow.tries("stale_backfill", "waits")["land"] == ("success", 1)


def processes() -> list[str]:
    """The command lines of this machine."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            found.append((folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace"))
    return found
