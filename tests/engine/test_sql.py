"""The SQL of stages, one of each kind, as files to be read: they show what a change does to a plan.

`UPDATE_GOLDEN=1` writes them anew.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.engine.layout import laid_out
from tests.engine.relations import Relation, Statements, recording
from windrow.compile.columns import AHEAD, CELL, STATE
from windrow.compile.elements.envelope import ENVELOPE
from windrow.compile.panes.event_times import ahead_of
from windrow.compile.sql import columns as sql
from windrow.compile.sql.columns import Column, col
from windrow.compile.stage import CompiledStage
from windrow.engine.clocks.clock import StageClock, TickTimes
from windrow.engine.frames import apply, over, with_column
from windrow.engine.tick.admission import Admission
from windrow.engine.tick.cogroups import united
from windrow.engine.tick.collect_statistics import counted
from windrow.engine.tick.tick import at_end, phases, shown, trigger_clock
from windrow.engine.windows.registry import strategy_of
from windrow.spec.extensions import register
from windrow.spec.fields.schemas import Schema
from windrow.spec.stages.stage import Stage
from windrow.spec.times import SECOND

GOLDEN = Path(__file__).parent / "golden"
CASES: Mapping[str, Any] = yaml.safe_load((GOLDEN / "stages.yaml").read_text())
UPDATES = "UPDATE_GOLDEN" in os.environ

BEFORE, AFTER, NOW = 100_000 * SECOND, 200_000 * SECOND, 300_000 * SECOND
"""The watermark before the tick and after it, and its processing time: numbers that are recognised in the SQL."""

PHASES = {
    "before": "the state before the tick",
    "add": "trigger: the tick's elements are added",
    "fire": "trigger: what is ready, and what it emits",
    "after": "trigger: the state after the firing; panes",
    "transitions": "the new state",
}


def compiled(spark: Any, name: str) -> CompiledStage:
    """The last stage of a case."""
    import tests.extensions.triggers
    import tests.extensions.windows  # noqa: F401
    from tests.engine.own_aggregates import Span
    from windrow.testing.memory.chain import MemoryChain

    register(Span)  # `custom` names it, and a test that was run before may have taken it out
    stages = [Stage.from_mapping(one) for one in CASES[name]["stages"]]
    chain = MemoryChain.of(spark, stages, Schema.parse(CASES[name]["elements"]), None)
    return chain.stages[stages[-1].name].stage


def sql_of(stage: CompiledStage, name: str) -> str:
    """The statements of a tick: rows in, transitions of cells out."""
    with recording():
        return f"{_header(name)}\n\n{Statements(_tick(stage, _times(stage))).text}\n"


def _header(name: str) -> str:
    stages = yaml.safe_dump(CASES[name]["stages"], sort_keys=False, default_flow_style=None, width=110)
    return "\n".join(f"-- {line}".rstrip() for line in [CASES[name]["what"], "", *stages.splitlines()])


def _times(stage: CompiledStage) -> TickTimes:
    first = StageClock(BEFORE - SECOND).with_watermark(BEFORE, stage.stage.allowed_lateness).with_hold(None)
    second = StageClock(NOW).with_watermark(AFTER, stage.stage.allowed_lateness).with_hold(None)
    return TickTimes(7, first, second, (AFTER, AFTER + SECOND))


def _tick(stage: CompiledStage, times: TickTimes) -> dict[str, Any]:
    held, strategy, clock = Admission(times.before.expired_end), strategy_of(stage), trigger_clock(stage, times)
    found: dict[str, Any] = {}
    elements: dict[str, Any] = {}
    for name in stage.inputs:
        part, of_input = stage.of_input(name), f" of {name}" if name else ""
        rows: Any = Relation([*ENVELOPE, *part.elements.columns_read], "rows")
        judged = found[f"rows{of_input}, judged"] = apply(part.elements.judged(over(rows)), rows)
        judged = _named(judged, f"judged{of_input}")
        found[f"statistics{of_input}"] = counted(part, judged, held)
        elements[name] = found[f"elements{of_input}"] = apply(part.elements.elements(over(judged)), judged)
    parts = {name: _named(one, f"elements of {name}" if name else "elements") for name, one in elements.items()}
    cells: Any = Relation([*CELL, STATE], "cells")
    whole: Any = strategy.admit(united(stage, parts), cells, held, True)
    if stage.stage.keeps_event_times:
        whole = with_column(whole, AHEAD, ahead_of(times.output_watermark))
    combined = strategy.combine(whole, held, clock.watermark_before)
    merged = strategy.merge(combined, cells, held, times, clock)
    if merged.kept is not None:
        found["what is kept beside windows"] = merged.kept
    found["windows, and what the tick brings to each"] = merged.windows
    windows: Any = _named(merged.windows, "windows")
    if merged.ending is not None:
        found["transitions"] = apply(at_end(stage, over(windows), merged.ending, times, clock), windows)
        windows = _named(found["transitions"], "transitions")
    done = 0
    of_phases = phases(stage, over(windows), times, clock) if merged.ending is None else {}
    for phase, chain in of_phases.items():
        found[PHASES[phase]] = windows.after(chain, done)
        windows, done = _named(found[PHASES[phase]], phase), len(chain.steps)
    rows: Any = shown(stage, windows)
    if rows is not windows:
        found["the panes as rows"] = rows
    return found


def _named(relation: Any, name: str) -> Any:
    return Relation(relation.columns, name.replace(" ", "_"))


@pytest.mark.parametrize("name", CASES)
def test_a_stage_compiles_to_this_sql(spark, name: str) -> None:
    file = GOLDEN / f"{name}.sql"
    text = sql_of(compiled(spark, name), name)
    if UPDATES:
        file.write_text(text)
    assert text == file.read_text(), f"UPDATE_GOLDEN=1 writes {file.name} anew"


def test_what_is_compiled_twice_is_the_same(spark) -> None:
    for name in ("custom", "sessions"):
        assert sql_of(compiled(spark, name), name) == sql_of(compiled(spark, name), name)


def test_every_file_has_its_stage() -> None:
    assert {file.stem for file in GOLDEN.glob("*.sql")} == {*CASES}


def test_the_names_of_variables_depend_on_their_depth_only() -> None:
    def nested() -> Column:
        within = lambda outer: sql.some(col("b"), lambda inner: inner > outer)  # noqa: E731
        return sql.each(sql.keep(col("a"), within), lambda item: item + 1)

    text = "transform(filter(`a`, item1 -> exists(`b`, item0 -> (item0 > item1))), item0 -> (item0 + 1))"
    assert nested().text == nested().text == text


def test_no_variable_hides_another() -> None:
    there = sql.some(col("b"), lambda item: sql.some(col("c"), lambda other: other == item))
    whole = sql.keep(col("a"), lambda item: there & (item > 0))
    assert whole.text == (
        "filter(`a`, item2 -> (exists(`b`, item1 -> exists(`c`, item0 -> (item0 = item1))) AND (item2 > 0)))"
    )


# ---------------------------------------------------------------- how the files are laid out


def test_only_white_space_is_added() -> None:
    long = ", ".join(f"named_struct('it''s', `a b`, 'n', (x AND {number}))" for number in range(30))
    text = f"CASE WHEN (a > 1) THEN call({long}) ELSE array('long (text, with ( brackets') END"
    lines = laid_out(text, 4)
    assert len(lines) > 30 and all(len(line) <= 120 for line in lines)
    assert "".join("".join(lines).split()) == "".join(text.split())


def test_what_fits_stays_on_a_line() -> None:
    fields = ", ".join(f"'field_{number}', CAST(NULL AS array<struct<a: int, b: int>>)" for number in range(3))
    assert laid_out(f"CASE WHEN (a > 1) THEN named_struct({fields}) END AS `state`", 2) == [
        "  CASE",
        "    WHEN (a > 1)",
        "    THEN named_struct(",
        "      'field_0', CAST(NULL AS array<struct<a: int, b: int>>),",
        "      'field_1', CAST(NULL AS array<struct<a: int, b: int>>),",
        "      'field_2', CAST(NULL AS array<struct<a: int, b: int>>)",
        "    )",
        "  END AS `state`",
    ]
