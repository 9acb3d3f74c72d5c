"""What needs no Spark of forgetting: what is kept of audits and commits, and what the command says."""

import json

from windrow.drivers.forget.examples import without_examples
from windrow.spec.quality.broken_rows import BrokenRow, BrokenRows
from windrow.spec.quality.expectations import Severity
from windrow.spec.quality.judgements import GateResult, Judgement, Outcome
from windrow.store.delta.commit_files import AddedFile, LiveFile
from windrow.store.delta.history import _reduced, _stripped
from windrow.store.delta.steps import Commit

ADD = {
    "path": "_kind=pane/part%201",
    "partitionValues": {"_kind": "pane"},
    "size": 3,
    "stats": '{"minValues": {"k": "her"}}',
}


def test_a_judgement_without_its_examples_is_one() -> None:
    broken = BrokenRows(1, first=(BrokenRow({"customer": "her"}),))
    judgement = Judgement("e", Severity.CRITICAL, Outcome.FAILED, "1 of 4 rows", ("her",), broken, 1)
    found = without_examples("gate", {**GateResult("s", 4, (judgement,)).to_mapping(), "judged": {"at": 1}})
    assert "her" not in json.dumps(found) and found["judged"] == {"at": 1}
    (kept,) = GateResult.from_mapping(found).judgements
    assert (kept.figure, kept.rows_broken, kept.examples, kept.broken) == ("1 of 4 rows", 1, (), None)


def test_windows_and_messages_are_taken_out_and_numbers_stay() -> None:
    changes = {"stage": "s", "windows": 3, "first": [{"key": {"customer": "her"}}]}
    assert without_examples("changes", changes) == {"stage": "s", "windows": 3, "first": []}
    outcome = {"exit_code": 3, "message": "the gate of s stops\n  her row", "until": {}}
    assert without_examples("outcome", outcome) == {**outcome, "message": "the gate of s stops"}
    assert without_examples("publish", {"first": [1, 2]}) == {"first": [1, 2]}


def test_a_reduced_commit_says_its_step_and_nothing_of_files() -> None:
    info = {
        "timestamp": 1, "operation": "MERGE", "operationParameters": {"predicate": "customer = 'her'"},
        "userMetadata": json.dumps({"step": 4, "writer": "w", "journal_step": 7}), "txnId": "x",
    }  # fmt: skip
    line = _reduced([json.dumps({"commitInfo": info}), json.dumps({"add": ADD})])
    assert "her" not in line and line.startswith('{"commitInfo"')
    commit = Commit.of(4, json.loads(line)["commitInfo"]["userMetadata"])
    assert commit is not None and (commit.step, commit.notes) == (4, {"journal_step": 7})
    assert _reduced([line]) == line, "once more it is the same"


def test_the_last_removal_keeps_the_files_that_it_adds() -> None:
    remove = json.dumps({"remove": {"path": "p", "dataChange": True, "stats": '{"minValues": {"k": "her"}}'}})
    assert "her" not in _stripped(remove) and json.loads(_stripped(remove))["remove"]["path"] == "p"
    assert _stripped(json.dumps({"add": ADD})) == json.dumps({"add": ADD})
    assert "her" not in _stripped(json.dumps({"commitInfo": {"operationParameters": {"predicate": "her"}}}))


def test_a_removal_of_ours_says_nothing_of_what_was_in_the_file() -> None:
    live = LiveFile.of(ADD)
    assert live.file == AddedFile("_kind=pane/part 1", 3, ADD["stats"], {"_kind": "pane"})
    removed = json.loads(live.removal)["remove"]
    assert (removed["path"], removed["partitionValues"]) == (ADD["path"], {"_kind": "pane"})
    assert "her" not in live.removal and removed["dataChange"]
