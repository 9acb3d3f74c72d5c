"""No more than a little comes to the driver: every place of the library that collects rows, and why they are few."""

from __future__ import annotations

import ast
from pathlib import Path

LIB = Path(__file__).parent.parent / "lib" / "windrow"

COLLECTING = {
    "collect", "toPandas", "toArrow", "toLocalIterator", "tail", "to_table", "to_pyarrow_table", "to_pandas",
}  # fmt: skip
"""What makes rows of a frame, or of a table, values of this process."""

ONE_ROW = "totals: one row"
FEW: dict[str, str] = {
    "drivers/forget/examples.py": "what runs have found, a row for each step and subject",
    "drivers/forget/forget.py": ONE_ROW,
    "drivers/forget/whole.py": ONE_ROW,
    "drivers/ingest/file_faults.py": "the names of what stands among a source's files and is none",
    "drivers/ingest/quarantine.py": "totals, two paths that could be meant, the three newest files",
    "drivers/recompute/counting.py": "a row for each reason, and the first rules by file",
    "drivers/recompute/gates.py": "a row for each source partition",
    "drivers/recompute/publish/changes.py": "totals, and the first windows that differ",
    "drivers/recompute/publish/commit.py": ONE_ROW,
    "drivers/recompute/reconcile.py": "the first windows that differ",
    "drivers/recompute/restate.py": ONE_ROW,
    "drivers/recompute/scope/complete_windows.py": ONE_ROW,
    "drivers/recompute/scope/refusals.py": ONE_ROW,
    "drivers/recompute/windows/unrestated.py": "the paths of the files in quarantine",
    "drivers/recompute/windows/widening.py": ONE_ROW,
    "drivers/inspect/show/wanted_in_spark.py": "as many as the user wants to see",
    "drivers/register/spark.py": "a line for each property of a view",
    "drivers/retention/needs.py": ONE_ROW,
    "drivers/simulate/history.py": "totals: one row; and the touches of cells, which DuckDB goes on with",
    "engine/clocks/holds.py": ONE_ROW,
    "engine/tick/collect_statistics.py": "a row for each source partition and reason",
    "engine/windows/records.py": ONE_ROW,
    "quality/broken_rows.py": ONE_ROW,
    "quality/own.py": ONE_ROW,
    "quality/shares.py": ONE_ROW,
    "sources/delta.py": "what a table says of itself",
    "spec/pipelines/table.py": "what the user asks for as an Arrow table, without Spark",
    "store/delta/clustering.py": ONE_ROW,
    "store/delta/copy_on_write.py": "a line for each file that rows go from",
    "store/delta/floors.py": "a row for each floor",
    "store/delta/foreign.py": "a line for each file of a table that is read in place",
    "store/delta/upkeep.py": "what a table says of itself",
    "store/journal/journal.py": "the control rows of ticks, and a row for each bucket of window time",
    "store/journal/late.py": "a row for each group of late windows that stands alone",
    "store/reading/arrow.py": "groups, counted while they are read",
    "store/reading/spark.py": "answers to small questions, and pieces of what is read",
    "store/upstream/in_place.py": "a line for each file of the steps, and the counts of each",
    "store/upstream/raw.py": "a row for each source partition",
    "testing/memory/landing.py": "the rows of a transcript",
    "testing/memory/stage.py": "the rows of a transcript",
    "testing/memory/state.py": "the state of a transcript",
}  # fmt: skip


def collects(file: Path) -> bool:
    """Whether it calls one of these methods."""
    calls = [node.func for node in ast.walk(ast.parse(file.read_text())) if isinstance(node, ast.Call)]
    return any(isinstance(function, ast.Attribute) and function.attr in COLLECTING for function in calls)


def test_every_place_that_collects_rows_is_named_with_the_reason_why_they_are_few() -> None:
    found = {str(file.relative_to(LIB)) for file in LIB.rglob("*.py") if collects(file)}
    assert found == FEW.keys()
