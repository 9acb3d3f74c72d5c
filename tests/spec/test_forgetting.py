"""What needs no Spark of forgetting: what is kept of audits and commits, and what the command says."""

import json
from collections.abc import Sequence
from dataclasses import dataclass

from windrow.drivers.forget.examples import without_examples
from windrow.drivers.forget.forget import Forgotten, ForgottenRows
from windrow.drivers.forget.windows.stage import ForgottenWindows
from windrow.drivers.inspect.reports.again import PagesAgain
from windrow.drivers.inspect.status.status import _when_read
from windrow.engine.clocks.clock import StageClock
from windrow.engine.tick.counters import Counters
from windrow.spec.quality.broken_rows import BrokenRow, BrokenRows
from windrow.spec.quality.expectations import Severity
from windrow.spec.quality.judgements import GateResult, Judgement, Outcome
from windrow.store.delta.history import reduced
from windrow.store.delta.log.commit_files import AddedFile
from windrow.store.delta.log.commits import Commit
from windrow.store.journal.control import FORGETTING, STREAM, Control
from windrow.store.journal.totals import FORGETTINGS, TOTALS, total_notes
from windrow.store.upstream.offsets import Offsets
from windrow.view.forget import forgotten_text

ADD = {
    "path": "_kind=pane/part%201",
    "partitionValues": {"_kind": "pane"},
    "size": 3,
    "stats": '{"minValues": {"k": "her"}}',
}
REMOVE = {"remove": {"path": "p", "dataChange": True, "stats": '{"minValues": {"k": "her"}}'}}
STAMP = {"txn": {"appId": "a", "version": 4}}


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


def test_what_was_observed_in_a_column_is_taken_out_if_it_is_a_value_of_a_row() -> None:
    def of(expectation: str, outcome: Outcome = Outcome.FAILED) -> Judgement:
        return Judgement(expectation, Severity.CRITICAL, outcome, "1,019", (), value=1019.0)

    judged = (of("column_max_to_be_between(v, max_value=9)"), of("column_mean_to_be_between(v, max_value=9)"),
              of("column_min_to_be_between(v)", Outcome.ERROR))  # fmt: skip
    found = without_examples("gate", GateResult("s", 4, judged).to_mapping())
    largest, mean, failed = GateResult.from_mapping(found).judgements
    assert (largest.figure, largest.value) == ("***", None)
    assert (mean.figure, mean.value) == ("1,019", 1019.0)
    assert failed.figure == "could not be checked"
    message = "the gate of s stops: column_max_to_be_between(v, max_value=9): 1,019"
    assert without_examples("outcome", {"message": message})["message"] == "the gate of s stops"


def test_a_reduced_commit_says_its_step_and_its_files_and_nothing_of_rows() -> None:
    info = {
        "timestamp": 1, "operation": "MERGE", "isBlindAppend": False,
        "operationParameters": {"predicate": "customer = 'her'", "mode": "Append"},
        "userMetadata": json.dumps({"step": 4, "writer": "w", "journal_step": 7}), "txnId": "x",
    }  # fmt: skip
    lines = [json.dumps(one) for one in ({"commitInfo": info}, {"add": ADD}, REMOVE, STAMP)]
    made = [reduced(line, has_rows=False) for line in lines]
    assert "her" not in "".join(made) and made[0].startswith('{"commitInfo"')
    said = json.loads(made[0])["commitInfo"]
    commit = Commit.of(4, said["userMetadata"])
    assert commit is not None and (commit.step, commit.notes) == (4, {"journal_step": 7})
    assert said["operationParameters"] == {"mode": "Append"} and said["reduced"] is True
    assert json.loads(made[1])["add"] == {name: value for name, value in ADD.items() if name != "stats"}
    assert json.loads(made[2])["remove"] == {"path": "p", "dataChange": True} and made[3] == lines[3]
    assert [reduced(line, has_rows=False) for line in made] == made, "once more it is the same"


def test_the_last_removal_keeps_what_it_says_of_the_files_that_it_adds() -> None:
    assert reduced(json.dumps({"add": ADD}), has_rows=True) == json.dumps({"add": ADD})
    assert "her" not in reduced(json.dumps(REMOVE), has_rows=True)
    info = json.dumps({"commitInfo": {"operationParameters": {"predicate": "her"}}})
    assert json.loads(reduced(info, has_rows=True)) == {"commitInfo": {"operationParameters": {}}}


def test_a_removal_of_ours_says_nothing_of_what_was_in_the_file() -> None:
    file = AddedFile.of(ADD)
    assert file == AddedFile("_kind=pane/part 1", 3, ADD["stats"], {"_kind": "pane"})
    removed = json.loads(file.removal())["remove"]
    assert (removed["path"], removed["partitionValues"]) == (ADD["path"], {"_kind": "pane"})
    assert "her" not in file.removal() and removed["dataChange"]


def test_rows_that_were_taken_out_count_where_they_were_when_they_were_read() -> None:
    assert _when_read({"forgotten": 3, "unreadable": 1}, 1) == {"forgotten": 0, "unreadable": 1}
    assert _when_read({"forgotten": 3, "quarantined": 2}, 2) == {"forgotten": 0, "quarantined": 2}
    assert _when_read({"forgotten": 1, "quarantined": 2}, 0) == {"forgotten": 0, "quarantined": 0}
    assert _when_read({"unreadable": 1}, 3) == {"unreadable": 1, "removed": 2}


@dataclass
class Journal:
    """The log of a journal whose last commit says this, and what reads its control rows."""

    commit: Commit | None
    control_rows: Sequence[Control] = ()

    @property
    def log(self) -> "Journal":
        return self

    def last(self, spark: object) -> Commit | None:
        return self.commit

    def controls(self, spark: object, after: int, until: int) -> dict[int, Control]:
        return {control.tick: control for control in self.control_rows}


def _control(tick: int, kind: str = STREAM) -> Control:
    return Control(tick, kind, Offsets({"": tick}), True, 0, StageClock(), Counters(read=2))


def test_a_commit_says_how_many_ticks_have_forgotten_rows() -> None:
    notes = total_notes(Journal(None), None, _control(1))  # type: ignore[arg-type]
    assert FORGETTINGS not in notes and notes[TOTALS]["read"] == 2
    for tick, kind, wanted in ((2, FORGETTING, 1), (3, STREAM, 1), (4, FORGETTING, 2)):
        last = Commit(tick - 1, "w", tick - 1, notes)
        notes = total_notes(Journal(last), None, _control(tick, kind))  # type: ignore[arg-type]
        assert (notes[FORGETTINGS], notes[TOTALS]["read"]) == (wanted, 2 * tick)
    silent = Journal(Commit(2, "w", 2, {}), [_control(1), _control(2, FORGETTING)])
    assert total_notes(silent, None, _control(3))[FORGETTINGS] == 1, "of an earlier version"  # type: ignore[arg-type]


def test_the_command_says_what_became_of_sources_and_stages() -> None:
    done = Forgotten(
        (ForgottenRows("visits", 3, 1, 7), ForgottenRows("orders", 0)),
        (ForgottenWindows("shops", 2, 5, 1), ForgottenWindows("idle", whole_from=0)),
        ("old_stage",),
        PagesAgain(("out/a.html", "out/b.html"), ("out/visits-shops-simulate.html",)),
    )
    assert forgotten_text(done, "FILE", False).splitlines() == [
        "visits: 3 rows forgotten, landing step 7",
        "visits: 1 row cannot be read, so nobody can tell whose they are; --unreadable forgets them all",
        "orders: no row to forget",
        "shops: 2 windows made of the other rows, tick 5",
        "shops: 1 window left as they are, because others are part of them",
        "idle: windows that start before 1970-01-01T00:00:00Z stay as they are, unless their key is the person: their "
        "rows were removed by age",
        "old_stage: is in the lake, and no source or stage of the pipeline file: nothing is forgotten there",
        "2 pages written again in out",
        "out/visits-shops-simulate.html: cannot be made again, and may have values of the rows: delete it",
        "windrow maintain FILE --keep 0h removes it from old versions of the tables",
        "pages in other folders are as they were: name them with --pages, or delete them",
    ]
    keyed = Forgotten((ForgottenRows("visits", 0),), (ForgottenWindows("shops", 2, 5),))
    assert "windrow maintain F --keep 0h removes it from old versions" in forgotten_text(keyed, "F", False)
    dry = Forgotten((ForgottenRows("visits", 3),))
    assert forgotten_text(dry, "FILE", True) == "visits: 3 rows would be forgotten"
