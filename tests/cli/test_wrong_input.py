"""A user's mistake is exit code 2 and one paragraph with place, rule, value and hint; no Python trace, no Spark."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.cli.command import Result, windrow
from tests.lake import pipeline
from windrow.cli.errors import exit_code, shown_plainly


def write(root: Path, **stage: object) -> Path:
    """The file of a good pipeline, with fields of its stage replaced, or left out where they are None."""
    mapping = pipeline(root).to_mapping()
    fields = {**mapping["stages"][0], **stage}
    mapping["stages"] = [{name: value for name, value in fields.items() if value is not None}]
    path = root / "pipeline.yaml"
    path.write_text(yaml.safe_dump(mapping, sort_keys=False))
    return path


def refused(result: Result, *words: str) -> None:
    assert result.code == 2 and result.out == ""
    assert "Traceback" not in result.err
    for word in words:
        assert word in result.err, result.err


WRONG_STAGES = {
    "a negative size": (
        {"window": {"fixed": {"size": "-1m"}}},
        "stages[0].window.fixed.size must be positive",
        '"-1m"',
    ),
    "a trigger that loses data": (
        {"trigger": {"after_count": 3}},
        "stages[0].trigger can finish before the window is complete",
        "after_count",
    ),
    "a global window with the default trigger": (
        {"window": {"global": {}}, "trigger": None},
        "stages[0].trigger must not be the default one with a global window",
        "default",
    ),
    "an aggregate called timing": (
        {"aggregates": {"timing": {"count": "*"}}, "derive": {}},
        "stages[0].aggregates.timing is a reserved name",
        '"timing"',
    ),
    "a field of another system": (
        {"window": {"tumbling": {"size": "1m"}}},
        "stages[0].window.tumbling is not",
        "fixed",
    ),
}


@pytest.mark.parametrize("command", [("plan",), ("run", "--once"), ("status",), ("reconcile",)], ids=" ".join)
@pytest.mark.parametrize("name", WRONG_STAGES)
def test_a_wrong_pipeline(tmp_path: Path, command: tuple[str, ...], name: str) -> None:
    stage, *words = WRONG_STAGES[name]
    refused(windrow(command[0], write(tmp_path, **stage), *command[1:]), "pipeline.yaml: ", "Hint: ", *words)


def test_a_misspelt_field_of_a_transcript(tmp_path: Path) -> None:
    path = tmp_path / "case.yaml"
    path.write_text(
        "case: misspelt\n"
        'stage: {window: {fixed: {size: 1m}}, aggregates: {n: {count: "*"}}}\n'
        "elements: {v: long}\n"
        'steps: [{add: [{at: "12:00", v: 1}], expekt: []}]\n'
    )
    result = windrow("check", path)
    assert result.code == 2 and "case 'misspelt'.steps[0].expekt is not a field" in result.out, result
    assert "did you mean expect?" in result.out and "1 case: 0 passed, 1 failed" in result.out


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    refused(windrow("plan", tmp_path / "none.yaml"), "none.yaml: cannot be read", "No such file or directory")
    refused(windrow("check", tmp_path / "none.yaml"), "none.yaml: cannot be read")


def test_a_trace_that_is_asked_for_leaves_the_exit_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WINDROW_TRACE", "1")
    result = windrow("plan", tmp_path / "none.yaml")
    assert result.code == 2 and result.err.startswith("Traceback"), result
    assert result.err.rstrip().splitlines()[-1].startswith("windrow: "), result.err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("run", "FILE", "--every", "soon"), ("--every must be a duration", '"soon"')),
        (("run", "FILE", "--every", "0s"), ("--every must be positive",)),
        (("run", "FILE", "--conf", "spark.x"), ("--conf must be NAME=VALUE", '"spark.x"')),
        (
            ("run", "FILE", "--conf", "spark.sql.ansi.enabled=true"),
            ("--conf: spark.sql.ansi.enabled must be false: one row", 'got "true"', "leave it out"),
        ),
        (("backfill", "FILE", "--to", "2024-01-02"), ("--from is missing",)),
        (("backfill", "FILE", "--from", "2024-01-02", "--to", "2024-01-02"), ("--to must be after --from",)),
        (("backfill", "FILE", "--from", "monday", "--to", "2024-01-02"), ("--from must be a time", '"monday"')),
        (("reconcile", "FILE", "--stage", "sum"), ("stage is not in the pipeline", '"sum"', "one of sums")),
        (("restate", "FILE", "--stage", "sum"), ("stage is not in the pipeline", '"sum"', "one of sums")),
        (("maintain", "FILE", "--keep", "soon"), ("--keep must be a duration", '"soon"')),
        (("forget", "FILE", "--where", "k = (SELECT 1)"), ("--where",)),
        (("forget", "FILE", "--source", "clack", "--where", "k = 1"), ("source is not in the pipeline", '"clack"')),
        (("show", "FILE", "sum"), ("stage is not in the pipeline", '"sum"')),
        (("show", "FILE", "sums", "--at", "noon"), ("--at must be a time", '"noon"')),
        (("plan", "FILE", "--set", "lake"), ("--set must be NAME=VALUE", '"lake"')),
        (("plan", "FILE", "--set", "lak=x"), ("lak is not a field", "did you mean lake?")),
        (
            ("plan", "FILE", "--set", "stages.sum.where=v > 1"),
            ("--set stages.sum.where leads to nothing", "one of sums"),
        ),
        (("plan",), ("Missing argument",)),
        (("run", "FILE", "--twice"), ("No such option",)),
        (("rum", "FILE"), ("No such command",)),
    ],
)
def test_a_wrong_option(tmp_path: Path, arguments: tuple[str, ...], words: tuple[str, ...]) -> None:
    path = write(tmp_path)
    refused(windrow(*(path if text == "FILE" else text for text in arguments)), *words)


def test_help_and_wrong_input_need_no_spark(tmp_path: Path) -> None:
    """In a process of its own: neither the help nor a plan nor an error has Spark imported."""
    path = write(tmp_path)
    for arguments in (["--help"], ["run", "--help"], ["plan", str(path)], ["run", str(path), "--every", "soon"]):
        script = (
            "import sys, windrow\nfrom windrow.cli import main\n"
            "try: main(sys.argv[1:])\n"
            "finally: assert not {'pyspark', 'delta', 'py4j', 'pandas'} & set(sys.modules), 'Spark was imported'\n"
        )
        command = [sys.executable, "-c", script, *arguments]
        done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "COLUMNS": "120"})
        assert "Spark was imported" not in done.stderr
        assert done.returncode == (2 if "--every" in arguments else 0), done.stderr


def test_another_writer_is_said_in_plain_words() -> None:
    from delta.exceptions import ProtocolChangedException

    from windrow.store.delta.log.retries import StepTaken

    at_a_tick = StepTaken("lake/sums/journal/1", 4, None)
    for error in (at_a_tick, ProtocolChangedException("[DELTA_PROTOCOL_CHANGED] ...")):
        assert exit_code(error) == 1
        said = shown_plainly(error)
        assert said.startswith("windrow: another writer is at work on this lake: ") and "\n" not in said
    assert "step 4 of lake/sums/journal/1 was written by another writer. This" in shown_plainly(at_a_tick)
    assert "the command could not go on: RuntimeError: boom" in shown_plainly(RuntimeError("boom\n  at ..."))
