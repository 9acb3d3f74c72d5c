"""No more than a little comes to the driver: every place of the library that collects rows, and why they are few."""

from __future__ import annotations

import ast
from pathlib import Path

LIB = Path(__file__).parent.parent / "lib" / "windrow"

COLLECTING = {
    "collect", "collectAsList", "toPandas", "toArrow", "toLocalIterator", "tail", "to_table",
    "to_pyarrow_table", "to_pandas",
}  # fmt: skip
"""What makes rows of a frame, or of a table, values of this process."""

ONE_ROW = "totals: one row"
FEW: dict[str, tuple[int, str]] = {
    "drivers/forget/examples.py": (1, "what runs have found, a row for each step and subject"),
    "drivers/forget/forget.py": (1, ONE_ROW),
    "drivers/forget/whole.py": (1, ONE_ROW),
    "drivers/ingest/file_faults.py": (1, "the names of what stands among a source's files and is none"),
    "drivers/ingest/quarantine.py": (3, "totals, two paths that could be meant, the three newest files"),
    "drivers/recompute/counting.py": (2, "a row for each reason, and the first rules by file"),
    "drivers/recompute/gates.py": (1, "a row for each source partition"),
    "drivers/recompute/publish/changes.py": (2, "totals, and the first windows that differ"),
    "drivers/recompute/publish/commit.py": (1, ONE_ROW),
    "drivers/recompute/reconcile.py": (1, "the first windows that differ"),
    "drivers/recompute/restate.py": (1, ONE_ROW),
    "drivers/recompute/scope/complete_windows.py": (1, ONE_ROW),
    "drivers/recompute/scope/refusals.py": (1, ONE_ROW),
    "drivers/recompute/windows/unrestated.py": (1, "the paths of the files in quarantine"),
    "drivers/recompute/windows/widening.py": (1, ONE_ROW),
    "drivers/inspect/show/wanted_in_spark.py": (1, "as many as the user wants to see"),
    "drivers/register/spark.py": (1, "a line for each property of a view"),
    "drivers/retention/cut.py": (1, ONE_ROW),
    "drivers/retention/needs.py": (2, ONE_ROW),
    "drivers/simulate/history.py": (5, "totals: one row; and the touches of cells, which DuckDB goes on with"),
    "engine/clocks/holds.py": (1, ONE_ROW),
    "engine/tick/collect_statistics.py": (2, "a row for each source partition and reason"),
    "engine/windows/records.py": (1, ONE_ROW),
    "quality/broken_rows.py": (2, ONE_ROW),
    "quality/own.py": (1, ONE_ROW),
    "quality/shares.py": (1, ONE_ROW),
    "sources/delta.py": (2, "what a table says of itself"),
    "spec/pipelines/table.py": (1, "what the user asks for as an Arrow table, without Spark"),
    "store/delta/clustering.py": (2, ONE_ROW),
    "store/delta/copy_on_write.py": (1, "a line for each file that rows go from"),
    "store/delta/floors.py": (2, "a row for each floor"),
    "store/delta/foreign.py": (1, "a line for each file of a table that is read in place"),
    "store/delta/history.py": (1, "a line for each live file"),
    "store/delta/log/transactions.py": (1, "a line for each live file"),
    "store/delta/upkeep.py": (1, "what a table says of itself"),
    "store/journal/journal.py": (2, "the control rows of ticks, and a row for each bucket of window time"),
    "store/journal/late.py": (2, "a row for each group of late windows that stands alone"),
    "store/reading/grouping.py": (1, "groups, counted while they are read"),
    "store/reading/spark.py": (6, "answers to small questions, and pieces of what is read"),
    "store/upstream/in_place.py": (2, "a line for each file of the steps, and the counts of each"),
    "store/upstream/raw.py": (1, "a row for each source partition"),
    "testing/memory/landing.py": (1, "the rows of a transcript"),
    "testing/memory/stage.py": (1, "the rows of a transcript"),
    "testing/memory/state.py": (2, "the state of a transcript"),
}  # fmt: skip


def collects(file: Path) -> int:
    """How often it calls one of these methods."""
    calls = [node.func for node in ast.walk(ast.parse(file.read_text())) if isinstance(node, ast.Call)]
    return sum(isinstance(function, ast.Attribute) and function.attr in COLLECTING for function in calls)


def test_every_place_that_collects_rows_is_counted_with_the_reason_why_they_are_few() -> None:
    found = {str(file.relative_to(LIB)): collects(file) for file in LIB.rglob("*.py")}
    assert {name: count for name, count in found.items() if count} == {name: count for name, (count, _) in FEW.items()}
