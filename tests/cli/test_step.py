"""The exit codes of a step, and how a scheduler reads them: what may be tried again."""

import json
from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import write_deltalake

from tests.cli.command import windrow
from tests.cli.test_wrong_input import write
from tests.lake import write_files
from windrow.cli.errors import step_code
from windrow.drivers.inspect.telling.runs import published_in
from windrow.spec.errors import NotYet, SpecError
from windrow.spec.quality.expectations import Severity
from windrow.spec.quality.judgements import GateFailed, GateResult, Judgement, Outcome
from windrow.store.delta.location import Lake
from windrow.store.journal.outcomes import OUTCOME, StepOutcome, outcome_of, subject_of
from windrow.store.reading.arrow import ArrowTables


def gate(*outcomes: Outcome, severity: Severity = Severity.CRITICAL) -> GateFailed:
    judgements = tuple(Judgement("e", severity, outcome, "") for outcome in outcomes)
    return GateFailed((GateResult("rows", 1, judgements),), "monday")


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (gate(Outcome.PASSED, Outcome.FAILED), 3),
        (gate(Outcome.FAILED, Outcome.ERROR), 3),
        (gate(Outcome.PASSED, Outcome.ERROR), 75),
        (gate(Outcome.FAILED, Outcome.ERROR, severity=Severity.WARNING), 75),
        (SpecError("lakee", "is not a field"), 2),
        (SpecError("lakee", "is not a field").within("x.yaml:"), 2),
        (NotYet("stages.x", "an earlier backfill has read further than the stream"), 75),
        (RuntimeError("out of memory"), 75),
    ],
)
def test_only_what_may_come_out_otherwise_is_tried_again(error: Exception, code: int) -> None:
    assert step_code(error) == code


def record(lake: Path, run: str, step: str, subject: str, code: int, at: int) -> None:
    """A row of the audits, as Spark writes it."""
    result = json.dumps({"exit_code": code, "message": f"at {at}"})
    row = {"run": run, "step": step, "subject": subject, "result": result, "at": at}
    write_deltalake(lake / "_windrow" / "audits", pa.Table.from_pylist([row]), mode="append")


def test_the_outcome_is_that_of_this_attempt_and_run(tmp_path: Path) -> None:
    lake = Lake.of(str(tmp_path))
    first, second = subject_of("first", "land"), subject_of("second", "land")
    assert outcome_of(lake, "monday", "first", "land") is None
    record(tmp_path, "monday", "gate", first, 0, 1)
    record(tmp_path, "monday", OUTCOME, second, 3, 2)
    record(tmp_path, "tuesday", OUTCOME, first, 2, 3)
    record(tmp_path, "monday", OUTCOME, subject_of("first", "publish"), 2, 3)
    assert outcome_of(lake, "monday", "first", "land") is None
    record(tmp_path, "monday", OUTCOME, first, 4, 4)
    assert outcome_of(lake, "monday", "first", "land") == StepOutcome(4, "at 4")
    assert outcome_of(lake, "monday", "second", "land") == StepOutcome(3, "at 2")


def test_the_newest_outcome_of_an_attempt_counts(tmp_path: Path) -> None:
    record(tmp_path, "monday", OUTCOME, subject_of("first", "land"), 0, 2)
    record(tmp_path, "monday", OUTCOME, subject_of("first", "land"), 75, 1)
    assert outcome_of(Lake.of(str(tmp_path)), "monday", "first", "land") == StepOutcome(0, "at 2")


def test_a_lake_that_only_spark_can_reach_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match="can be read without Spark"):
        outcome_of(Lake.of("hdfs://nowhere/lake"), "monday", "first", "land")
    (tmp_path / "_windrow/audits/_delta_log").mkdir(parents=True)
    (tmp_path / "_windrow/audits/_delta_log/00000000000000000000.json").write_text("no commit")
    with pytest.raises(SpecError, match="cannot be read without Spark"):
        outcome_of(Lake.of(str(tmp_path)), "monday", "first", "land")


def test_a_job_of_a_dag_leaves_its_outcome_and_what_it_has_published(spark, tmp_path: Path) -> None:
    """The stream over what is there, and the restatement of the rows that were late for it."""
    write_files(tmp_path / "data", range(3))
    path = str(write(tmp_path, allowed_lateness="0s"))
    lake = Lake.of(str(tmp_path / "lake"))
    for job, *options in (["stream", "--once"], ["restate"], ["maintain"]):
        done = windrow("job", job, path, "--run", "night", "--attempt", job, *options)
        assert (done.code, outcome_of(lake, f"{job}__night", job, job)) == (0, StepOutcome(0)), done.err
    (published,) = published_in(ArrowTables(), lake, "restate__night")
    assert published.stage == "sums" and published.inserted + published.changed > 0
    wrong = windrow("job", "restate", str(tmp_path / "no.yaml"), "--run", "night")
    assert wrong.code == 2 and wrong.err.startswith("windrow: ")
