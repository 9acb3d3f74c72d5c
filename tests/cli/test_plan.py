"""`windrow plan`: the file in words, and what `--set` and `--project` do to it."""

from pathlib import Path

import windrow as package
from tests.cli.command import windrow
from tests.cli.test_wrong_input import write
from windrow.drivers.inspect import plan as since
from windrow.spec.pipelines.fingerprint import fingerprint_of
from windrow.spec.pipelines.pipeline import Pipeline
from windrow.store.reading.generations import Generation
from windrow.view.plan.pipeline import since_section

CONF = Path(__file__).parents[2] / "conf" / "pipelines"


def test_the_flights_in_words() -> None:
    done = windrow("plan", CONF / "flights.yaml", "--set", "lake=none/here")
    assert done.code == 0 and done.err == ""
    for words in (
        "Source departures",
        "watermark     2h behind the greatest event time that was seen",
        "windows   1h long, one after the other",
        "early: again and again: when 3 new elements have come",
        "on time: when the watermark reaches the end of the window",
        "windows   3h long, one begins every 1h; an element is in 3 windows",
        "a window, with its state, when the watermark reaches its end + 18h",
        "this pipeline has not run in this lake",
    ):
        assert words in done.out


def test_what_one_task_does_for_a_whole_key() -> None:
    plan = windrow("plan", CONF / "aircraft.yaml", "--set", "lake=none/here", "--json").json["plan"]
    assert plan["Stage bouts"]["tasks"] == [
        "the sessions of a key are formed by one task, from a row for each 12h of its time; a tick takes as long as "
        "that of the largest key"
    ]
    assert "tasks" not in plan["Stage bouts_weekly"], "its rows are combined by whoever reads them"


def test_for_machines_the_plan_holds_the_file() -> None:
    plan = windrow("plan", CONF / "traffic.yaml", "--json").json
    assert Pipeline.from_mapping(plan["pipeline"]) == Pipeline.from_yaml(CONF / "traffic.yaml")
    assert plan["plan"]["Stage cars_hourly"]["fires"] == ["once, when the window expires"]
    assert [stage["outcome"] for stage in plan["since"]["stages"]] in (["new"], ["unchanged"])


def test_fields_are_set_from_outside(tmp_path: Path) -> None:
    path = write(tmp_path)
    settings = ["--set", "stages.sums.allowed_lateness=3h", "--set", "sources.0.files.max_files_per_batch=7"]
    done = windrow("plan", path, *settings)
    assert "reaches its end + 3h" in done.out and "at most 7 files" in done.out
    loaded = package.load(path, {"stages.sums.where": "v > 1"})
    assert str(loaded.stages[0].where and loaded.stages[0].where.text).replace("`", "") == "v > 1"


def test_how_old_results_may_be_is_named(tmp_path: Path) -> None:
    path = write(tmp_path)
    assert "freshness" not in windrow("plan", path).out
    done = windrow("plan", path, "--set", "stages.sums.freshness={warn: 2h, error: 6h}")
    words = "a warning after 2h, an error after 6h, from the end of the newest window that is complete"
    assert done.code == 0 and words in " ".join(done.out.split()), done.err


def test_relative_paths_start_from_the_project(tmp_path: Path, monkeypatch) -> None:
    write(tmp_path)
    monkeypatch.setenv("FOLDER", "made")
    settings = {"lake": "lakes/one", "sources.clicks.files.path": "${FOLDER}/files"}
    there = package.load("pipeline.yaml", settings, project=tmp_path)
    assert there.lake == f"{tmp_path}/lakes/one"
    assert there.sources[0].files.path == f"{tmp_path}/${{FOLDER}}/files"
    absolute = package.load("pipeline.yaml", {"lake": "s3://bucket/lake"}, project=tmp_path)
    assert absolute.lake == "s3://bucket/lake" and absolute.sources[0].files.path == str(tmp_path / "data")


def test_every_public_name_is_there() -> None:
    for name in package.__all__:
        assert getattr(package, name) is not None
    assert callable(package.run)


def test_a_stage_is_rebuilt_with_the_one_that_it_reads(monkeypatch) -> None:
    made = Pipeline.from_yaml(CONF / "aircraft.yaml")
    first, _ = made.stages
    known = {
        stage.name: Generation(1, fingerprint_of(stage, made.upstreams_of(stage), {first.name: 1}))
        for stage in made.stages
    }
    monkeypatch.setattr(since, "newest_generations", lambda *arguments: known)
    assert [item.outcome for item in since.since_last_run(made)[0]] == ["unchanged", "unchanged"]
    changed = Pipeline.from_yaml(CONF / "aircraft.yaml", {f"stages.{first.name}.where": "distance > 100"})
    found, _ = since.since_last_run(changed)
    assert [item.outcome for item in found] == ["changed", "rebuilt"]
    assert f"it is rebuilt with {first.name}, as generation 2" in str(since_section(found, None).rows)
