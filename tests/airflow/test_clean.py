"""What a run has staged is deleted without Spark: of its own stages, and nothing else."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from windrow.store.delta.location import Lake, Location
from windrow.store.reading import removal

pytestmark = pytest.mark.airflow


@pytest.fixture(scope="module", autouse=True)
def home(tmp_path_factory: pytest.TempPathFactory) -> None:
    os.environ.setdefault("AIRFLOW_HOME", str(tmp_path_factory.mktemp("airflow")))


def staged(lake: Path, run: str, *names: str) -> None:
    for name in names:
        (lake / "_windrow" / "staging" / run / name / "_delta_log").mkdir(parents=True)
        (lake / "_windrow" / "staging" / run / name / "_delta_log" / "0.json").write_text("{}")


def left(lake: Path) -> set[str]:
    return {str(path.parent.parent.relative_to(lake / "_windrow/staging")) for path in lake.rglob("0.json")}


def clean(lake: str, run: str) -> None:
    from windrow.airflow.tasks.clean import Clean

    Clean(task_id="clean", lake=lake, run=run, stages=["hourly", "daily"]).execute({})


def test_what_the_stages_of_a_run_have_staged_is_deleted(tmp_path: Path) -> None:
    staged(tmp_path, "manual__2024-01-01T00_00_00", "hourly-1-0-9", "daily-2-0-9")
    staged(tmp_path, "shared", "hourly-1-0-9", "hourly_too-1-0-9")
    (tmp_path / "_windrow" / "staging" / "published").mkdir()
    for run in ("manual__2024-01-01T00:00:00", "shared", "published", "never_begun"):
        clean(str(tmp_path), run)
    assert left(tmp_path) == {"shared/hourly_too-1-0-9"}
    assert [path.name for path in (tmp_path / "_windrow" / "staging").iterdir()] == ["shared"]


def test_a_lake_that_only_spark_can_reach_is_left_to_maintenance(tmp_path: Path) -> None:
    clean("hdfs://nowhere/lake", "monday")


def test_an_object_store_is_cleaned_through_what_reads_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Here a folder of this machine, by its URI."""
    staged(tmp_path, "monday", "hourly-1-0-9", "other-1-0-9")
    place = Location(Lake.of(str(tmp_path)).staging("monday").path)
    monkeypatch.setattr(removal, "folder_of", lambda path: None)
    uri = Location(Path(place.path).as_uri())
    assert removal.remove_folders(uri, lambda name: name.startswith("hourly-")) == ["hourly-1-0-9"]
    assert left(tmp_path) == {"monday/other-1-0-9"}
