"""How the panes of cells are shown: those of an ordinary stage as they are, those of a join as rows."""

from __future__ import annotations

from windrow.compile.panes.joins import JoinedPanes
from windrow.compile.panes.shown import EmittedPanes
from windrow.compile.sql.chain import Chain
from windrow.compile.sql.columns import col, lit, struct
from windrow.spec.stages.stage import Stage

COUNTS = Stage.from_mapping({"window": {"fixed": {"size": "1m"}}, "keys": ["k"], "aggregates": {"n": {"count": "*"}}})
PAIRS = Stage.from_mapping(
    {"window": {"fixed": {"size": "1m"}}, "join": "inner",
     "inputs": {"left": {"keys": ["k"], "columns": ["a"]}, "right": {"keys": ["k"], "columns": ["b"]}}}
)  # fmt: skip
EMITTED = EmittedPanes(COUNTS, "struct<`n`: bigint>")
JOINED = JoinedPanes(
    PAIRS, {"v__left_rows": "array<struct<a:int>>", "v__right_rows": "array<struct<b:int>>", "v__left_number": "bigint"}
)


def test_the_tick_of_an_ordinary_stage_has_no_further_projection() -> None:
    chain = Chain.over(("key", "panes", "v_n"))
    assert EMITTED.of_transitions(chain) is chain
    assert EMITTED.of_windows(chain) is chain and EMITTED.rows(chain) is chain
    assert EMITTED.values == ("n",) and not EMITTED.gathered
    assert EMITTED.inserted(col("batch"), lambda values: struct(**values)).text == (
        "array(named_struct('n', `batch`.`n`))"
    )


def test_a_window_of_a_join_is_an_array_of_rows_and_keeps_what_is_not_collected() -> None:
    whole = Chain.over(("key", "v__left_rows", "v__right_rows", "v__left_number", "v_event_time"))
    assert JOINED.of_windows(whole).names == ("key", "v_event_time", "v_rows")
    assert JOINED.rows(JOINED.of_windows(whole)).names == ("key", "v_event_time", "v_a", "v_b", "v_row")
    assert JOINED.values == ("rows",) and [*JOINED.gathered] == ["v_rows"]
    assert JOINED.result_type == "struct<a:int, b:int, `row`: bigint>"
    assert JOINED.of_transitions(Chain.over(("key", "panes"))).names == ("key", "panes")
    assert JOINED.inserted(col("batch"), lambda values: lit(len(values))).text == "transform(`batch`.`rows`, one -> 3)"


def test_what_tells_the_rows_of_a_window_apart() -> None:
    assert COUNTS.row_identity == () and PAIRS.row_identity == ("row",)
    clearing = Stage.from_mapping({**COUNTS.to_mapping(), "accumulation": "discarding"})
    assert clearing.row_identity == ("pane_index",)
