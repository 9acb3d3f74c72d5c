"""Tables of a lake that the pipeline file does not name: of stages and sources that it has had once."""

from __future__ import annotations

from windrow.drivers.pipeline.pipeline import PipelineWork
from windrow.spec.pipelines.table_columns import QUALITY_TABLE
from windrow.store.delta.file_system import hadoop


def unnamed_owners(work: PipelineWork) -> tuple[str, ...]:
    """The folders of the lake that may have such tables, by their names."""
    known = {*work.raws, *(item.name for item in work.stages), QUALITY_TABLE}
    files, root = hadoop(work.spark, work.lake.root)
    if not files.exists(root):
        return ()
    names = [status.getPath().getName() for status in files.listStatus(root) if status.isDirectory()]
    return tuple(sorted(name for name in names if name not in known and not name.startswith(("_", "."))))
