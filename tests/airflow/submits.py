"""A `spark-submit` for tests of what Airflow does: it leaves in a lake what a step leaves, soon and without Spark.

What becomes of a step is told by a file of the lake's folder, named as the step: JSON with `code`, `message` and
`until` of its outcome, `hangs`, `tick` and `inserted` of what has been published, `warns` with the figure of an
expectation, and `late`, a tick in which a row was late. Every step that was made is a line of the file `made`.
"""

from __future__ import annotations

import json
import sys
import time
from datetime import datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

import pyarrow as pa
from deltalake import CommitProperties, write_deltalake

from windrow.spec.pipelines.loading import load
from windrow.spec.quality.expectations import Severity
from windrow.spec.quality.judgements import GateResult, Judgement, Outcome
from windrow.store.journal.audits import BEGIN
from windrow.store.journal.outcomes import OUTCOME, subject_of

STEPS = ("land", "gate_rows", "compute", "gate_results", "publish")
STAGE = "hourly"
SPAN = {"start": 1_704_067_200_000_000, "end": 1_704_153_600_000_000, "stages": [STAGE]}


def install(folder: Path) -> None:
    """Put it into a folder, for a PATH that begins with it."""
    script = folder / "spark-submit"
    script.write_text(f'#!/bin/sh\nexec {sys.executable} -m tests.airflow.submits "$@"\n')
    script.chmod(0o755)


def tell(lake: Path, step: str, **what: Any) -> None:
    """Say what becomes of a step from now on."""
    lake.mkdir(parents=True, exist_ok=True)
    (lake / step).write_text(json.dumps(what))


def complete(lake: Path, until: datetime) -> None:
    """What the stage shows is complete up to then."""
    schema = pa.schema([("timing", pa.string()), ("window_end", pa.timestamp("us", tz="UTC"))])
    rows = pa.Table.from_pylist([{"timing": "on_time", "window_end": until}], schema)
    write_deltalake(str(lake / STAGE / "current"), rows, mode="overwrite")


def show(lake: Path, tick: int, panes: int) -> None:
    """A tick of a stream that has made so many panes, which people see."""
    _append(lake / STAGE / "ticks", [{"generation": 1, "tick": tick, "panes": panes, "retractions": 0}])
    notes = {"step": tick, "writer": "w", "generation": 1, "journal_step": tick}
    told = CommitProperties(custom_metadata={"userMetadata": json.dumps(notes)})
    rows = pa.table({"tick": [tick]})
    write_deltalake(str(lake / STAGE / "current"), rows, mode="append", commit_properties=told)


def made(lake: Path) -> list[str]:
    """The steps that were made, in their order."""
    return (lake / "made").read_text().split()


def main(arguments: list[str]) -> int:
    """Make the step of these arguments, and those behind it that they name."""
    first, file, *options = arguments[next(i for i, word in enumerate(arguments) if word.endswith(".py")) + 1 :]
    given = {name: value for name, value in pairwise(options) if name.startswith("--")}
    lake = Path(load(file, project=Path(given["--project"])).lake)
    (lake / "_windrow").mkdir(parents=True, exist_ok=True)
    last = given.get("--through", first)
    steps = STEPS[STEPS.index(first) : STEPS.index(last) + 1] if first in STEPS else (first,)
    run = given["--run"] if first in STEPS else f"{first}__{given['--run']}"
    for step in steps:
        if (code := _make(step, lake, run, given["--attempt"])) != 0:
            return code
    return 0


def _make(step: str, lake: Path, run: str, attempt: str) -> int:
    with (lake / "made").open("a") as lines:
        lines.write(f"{step}\n")
    what = json.loads((lake / step).read_text()) if (lake / step).is_file() else {}
    time.sleep(what.get("hangs", 0))
    audits, generations = lake / "_windrow" / "audits", lake / "_windrow" / "generations"
    if not generations.exists():
        _append(generations, [{"stage": STAGE, "generation": 1, "fingerprint": "{}", "step": 1}])
    if step == STEPS[0]:
        _append(audits, [_audit(run, BEGIN, "", SPAN)])
    if "tick" in what:
        numbers = {"windows": what["inserted"], "inserted": what["inserted"], "changed": 0, "retracted": 0}
        published = {"stage": STAGE, "tick": what["tick"], **numbers, **SPAN}
        _append(audits, [_audit(run, "publish", STAGE, published)])
    if "warns" in what:
        judgement = Judgement("table_row_count", Severity.WARNING, Outcome.FAILED, what["warns"])
        gate = GateResult(STAGE, 1, (judgement,)).to_mapping()
        _append(audits, [_audit(run, "gate", STAGE, gate | SPAN)])
    if "late" in what:
        letter = pa.table({"reason": ["late"], "restated_by": pa.array([None], pa.int64()), "tick": [what["late"]]})
        write_deltalake(str(lake / STAGE / "dead_letters"), letter, mode="append")
    code = int(what.get("code", 0))
    outcome = {"exit_code": code, "message": what.get("message", ""), "until": what.get("until", {})}
    _append(audits, [_audit(run, OUTCOME, subject_of(attempt, step), outcome)])
    return code


def _audit(run: str, step: str, subject: str, result: dict[str, Any]) -> dict[str, Any]:
    at = time.time_ns() // 1000
    return {"run": run, "step": step, "subject": subject, "result": json.dumps(result), "at": at}


def _append(table: Path, rows: list[dict[str, Any]]) -> None:
    write_deltalake(str(table), pa.Table.from_pylist(rows), mode="append")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
