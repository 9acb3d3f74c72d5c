"""Quarantine: the rows of a landed file are taken out of what counts, and stay where they are, as dead letters.

It is a landing step of its own, in which the rows of that file get the reason `quarantined`. From then on no stage
reads them, no gate judges them, and whatever is recomputed from raw is without them. What a stage has shown already is
corrected by a backfill of the windows.
"""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import unquote

from pyspark.sql import SparkSession

from windrow.compile.envelope import EVENT_TIME, OFFSET, REASON, RULE
from windrow.compile.sql import Column, call, col, lit
from windrow.engine.frames import group, where
from windrow.run.points import point
from windrow.run.session import working_session
from windrow.run.work import ATTEMPTS
from windrow.spec.errors import SpecError
from windrow.spec.pipelines import Pipeline
from windrow.store.location import Lake
from windrow.store.projections.source import SourceProjections
from windrow.store.raw import QUARANTINED, Raw
from windrow.store.steps import StepTaken


@dataclass(frozen=True)
class Quarantined:
    """What a quarantine did: `rows` of `file` are out, which fall into event times [first, last] in microseconds.

    `step` is its landing step, None where all rows of the file were out before. `first` and `last` are None where no
    row could be dated.
    """

    source: str
    file: str
    rows: int
    step: int | None
    first: int | None
    last: int | None


def quarantine(pipeline: Pipeline, spark: SparkSession, source: str, file: str) -> Quarantined:
    """Take the rows of a landed file out. `file` is its path, or the end of it. Errors: SpecError where none is it."""
    pipeline.source(source)
    session = working_session(spark)
    raw = Raw.of(Lake.of(pipeline.lake), source)
    found = _retried(session, raw, _offset(session, raw, file))
    SourceProjections(session, Lake.of(pipeline.lake), raw).project()
    return found


def _retried(session: SparkSession, raw: Raw, offset: str) -> Quarantined:
    """A landing batch may come in between: then it is done again behind it."""
    for _ in range(ATTEMPTS - 1):
        try:
            return _take_out(session, raw, offset)
        except StepTaken:
            continue
    return _take_out(session, raw, offset)


def _take_out(session: SparkSession, raw: Raw, offset: str) -> Quarantined:
    last = raw.log.last(session)
    assert last is not None, "a file of it has landed"
    counts = group(
        where(raw.rows(session, 0, last.step), col(OFFSET) == lit(offset)),
        (),
        {
            "rows": call("count", 1), "in": call("count_if", _is_in(offset)),
            "first": call("min", col(EVENT_TIME)), "last": call("max", col(EVENT_TIME)),
        },
    ).collect()[0]  # fmt: skip
    step = None
    if counts["in"]:
        step = last.step + 1
        with raw.log.stepping(session, step, raw.quarantining(last, step)):
            words = f"the file was quarantined in landing step {step}"
            out = {REASON: lit(QUARANTINED).text, RULE: lit(words).text}
            raw.log.location.table(session).update(_is_in(offset).text, {**out})
        point("quarantine:after_raw")
    return Quarantined(raw.source, unquote(offset), counts["rows"], step, counts["first"], counts["last"])


def _is_in(offset: str) -> Column:
    """Whether a row of the file is not in quarantine yet."""
    return (col(OFFSET) == lit(offset)) & ~col(REASON).same(lit(QUARANTINED))


def _offset(session: SparkSession, raw: Raw, file: str) -> str:
    """The one landed file that is meant, as raw writes it. Errors: SpecError."""
    until = raw.last_step(session)
    paths: dict[str, str] = (
        {row[OFFSET]: unquote(row[OFFSET]) for row in raw.files(session, until).collect()} if until else {}
    )
    wanted = file.removeprefix("file:")
    meant = [offset for offset, path in paths.items() if path == file or f"/{path}".endswith(f"/{wanted.lstrip('/')}")]
    if len(meant) == 1:
        return meant[0]
    some = ", ".join(sorted(path.rsplit("/", 1)[-1] for path in paths.values())[-3:]) or "none"
    rule = "is more than one of the landed files" if meant else "is no file that has landed"
    hint = "give more of its path" if meant else f"`landings` counts them; the last are {some}"
    raise SpecError("--file", rule, file, hint)
