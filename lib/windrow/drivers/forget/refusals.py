"""What cannot be forgotten, said before anything has changed."""

from __future__ import annotations

from collections.abc import Mapping

from windrow.compile.columns import KEY
from windrow.compile.elements.envelope import REASON
from windrow.compile.sql.columns import col
from windrow.drivers.forget.person import Person
from windrow.drivers.forget.windows.affected import each_once
from windrow.drivers.forget.windows.finding import cells_of_rows
from windrow.drivers.pipeline.pipeline import PipelineWork
from windrow.drivers.pipeline.stage import StageWork
from windrow.engine.frames import where
from windrow.spec.errors import NotInThisVersion
from windrow.spec.sources.source import Source
from windrow.store.delta.copy_on_write import GOES, check_rewritable
from windrow.store.journal.audits import Audits
from windrow.store.upstream.offsets import START


def check(work: PipelineWork, person: Person, sources: Mapping[str, Source]) -> None:
    """Raises NotYet while two generations of a stage are at work, and NotInThisVersion.

    That is where only Delta may change rows of a table, and for record windows of a key that others have too, as far as
    they are made of the rows of these sources.
    """
    for item in work.stages:
        item.check_settled()
        if item.runner.strategy.ends_by_cells:
            _check_records(work, item, person, sources)
    tables = [work.raws[name].log.location for name in sources]
    for item in work.stages:
        tables += [item.runner.journal.location, item.runner.journal.snapshot.location]
        tables += [work.lake.table(item.name, name) for name in ("panes", "current", "dead_letters")]
    for table in (*tables, Audits.of(work.lake).location, work.lake.quality_results):
        check_rewritable(work.spark, table)


def records_with_others(item: StageWork) -> NotInThisVersion:
    """What to say of record windows of a key that has other rows."""
    rule = "cannot be made anew over the rows that are left of a key in this version"
    hint = "forget whole keys, or take the rows out of what is read and run on a new lake path"
    return NotInThisVersion(f"stages.{item.name}.window", rule, None, hint)


def _check_records(work: PipelineWork, item: StageWork, person: Person, sources: Mapping[str, Source]) -> None:
    upstream, hers, others = item.runner.upstream, [], []
    for name, rows in upstream.parts(work.spark, START, upstream.head(work.spark)).items():
        alive = where(rows, col(REASON).is_null())
        source = sources.get(upstream.logs[name].name)
        if source is None:
            others += cells_of_rows(item, {name: alive})
            continue
        told = person.tells(alive, source)
        hers += cells_of_rows(item, {name: where(told, col(GOES)).drop(GOES)})
        others += cells_of_rows(item, {name: where(told, ~col(GOES)).drop(GOES)})
    if hers and others and not each_once(hers).join(each_once(others), on=[KEY], how="left_semi").isEmpty():
        raise records_with_others(item)
