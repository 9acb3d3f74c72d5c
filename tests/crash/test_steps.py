"""A job for several steps of a run whose driver is killed between two of them: others go on, and all is there once."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.cli.command import windrow
from tests.crash.ends import finish
from tests.lake import content, judged, table, write_files
from windrow.store.delta.location import Lake
from windrow.store.journal.outcomes import StepOutcome, outcome_of

pytestmark = [pytest.mark.crash, pytest.mark.long]

DAY = ("--run", "monday", "--from", "2024-01-01", "--to", "2024-01-02", "--whole")


def words(root: Path, step: str, attempt: str) -> list[str]:
    return ["step", step, str(root / "tests.yaml"), "--through", "publish", "--attempt", attempt, *DAY]


def project(root: Path) -> Path:
    """A pipeline with a suite, in a file, and what it reads."""
    write_files(root / "data", range(3))
    (root / "tests.yaml").write_text(yaml.safe_dump(judged(root).to_mapping()))
    return root


def test_a_driver_that_is_killed_between_two_steps(spark, tmp_path: Path) -> None:
    ended, calm = project(tmp_path / "ended"), project(tmp_path / "calm")
    driver = subprocess.Popen(
        [sys.executable, "-m", "windrow", *words(ended, "land", "first")], start_new_session=True,
        env={**os.environ, "WINDROW_KILL_AT": "step:after_compute"},
    )  # fmt: skip
    assert finish(driver) == -signal.SIGKILL
    lake = Lake.of(str(ended / "lake"))
    steps = ("land", "gate_rows", "compute", "gate_results")
    outcomes = [outcome_of(lake, "monday", "first", step) for step in steps]
    assert outcomes == [StepOutcome(0), StepOutcome(0), StepOutcome(0), None]
    assert windrow(*words(ended, "gate_results", "second")).code == 0
    assert windrow(*words(calm, "land", "only")).code == 0
    for name in ("current", "panes"):
        assert content(spark, ended, name) == content(spark, calm, name), name
    shown = table(spark, ended, "current").count()
    assert shown and table(spark, ended, "panes").count() == shown, "each window once"
