"""The pages of docs/ against the code: every field, default, name, column and option is there; examples are true."""

from __future__ import annotations

import os
import re
from dataclasses import MISSING, Field, fields
from pathlib import Path
from typing import Any

import pytest
import typer.main

import windrow
from demo.own_airflow import PRELOADED
from tests.layers import LAYERS
from tests.model.transcripts import check as check_on_model
from tests.spec.pages import (
    PAGES,
    ROOT,
    TEXTS,
    anchors,
    blocks,
    coded,
    column,
    links,
    section,
    table_of,
    tables,
)
from windrow.cli import app
from windrow.cli.errors import INTERRUPTED
from windrow.compile.elements.envelope import ENVELOPE
from windrow.drivers.pipeline.points import POINTS
from windrow.spec import aggregates
from windrow.spec.errors import NotInThisVersion, SpecError
from windrow.spec.expressions.functions import FUNCTIONS
from windrow.spec.fields.reading import Spec, kind_of, yaml_name
from windrow.spec.fields.schemas import _SIMPLE, Schema
from windrow.spec.pipelines.documents import load_yaml
from windrow.spec.pipelines.pipeline import Pipeline
from windrow.spec.pipelines.retention import Retention
from windrow.spec.pipelines.schedules import Schedule
from windrow.spec.pipelines.spark_settings import REQUIRED
from windrow.spec.pipelines.submissions import Submission
from windrow.spec.pipelines.table_columns import (
    COMMENTS,
    ENVELOPE_TYPES,
    LANDINGS,
    PANE_TYPES,
    QUALITY_COMMENTS,
    QUALITY_RESULTS,
    SOURCE_DEAD_LETTERS,
    STAGE_DEAD_LETTERS,
    TICKS,
    current_columns,
    pane_columns,
)
from windrow.spec.quality.expectations import SHAPES
from windrow.spec.quality.suites import Suite
from windrow.spec.sources.all import CONNECTORS
from windrow.spec.sources.files import FileFormat
from windrow.spec.sources.source import MAX_FUTURE, Source
from windrow.spec.sources.time_columns import TimeColumn, TimeFormat
from windrow.spec.sources.watermarks import Watermark
from windrow.spec.stages.freshness import Freshness
from windrow.spec.stages.keys import LogColumn
from windrow.spec.stages.stage import RESERVED_NAMES, ElementTime, Stage
from windrow.spec.times import format_duration
from windrow.spec.transcripts.cases import _CASE_FIELDS, read_transcripts
from windrow.spec.transcripts.steps import _STEP_FIELDS, DEAD_FIELDS, PANE_FIELDS
from windrow.spec.triggers import all as triggers
from windrow.spec.windows import all as windows
from windrow.view.metrics import FAMILIES
from windrow.view.pictures.transcripts import drawings

TRANSCRIPTS = ROOT / "tests" / "transcripts"

AGGREGATES = [n for n, cls in aggregates.AGGREGATES.items() if cls.__module__.startswith("windrow.")]
BUILT_IN_WINDOWS = {n: cls for n, cls in windows.WINDOW_FUNCTIONS.items() if cls.__module__.startswith("windrow.")}

# ---------------------------------------------------------------- links


def test_every_link_leads_somewhere() -> None:
    dead = []
    for path, target in links():
        name, _, anchor = target.partition("#")
        file = (path.parent / name).resolve() if name else path
        if not file.exists() or (anchor and anchor not in anchors(TEXTS[file])):
            dead.append(f"{path.name}: {target}")
    assert not dead


def test_every_page_is_linked_from_the_readme() -> None:
    linked = {target.partition("#")[0] for path, target in links() if path == ROOT / "README.md"}
    assert {f"docs/{name}.md" for name in PAGES} <= linked


# ---------------------------------------------------------------- pipeline files

SPECS: dict[str, type[Spec]] = {
    "Pipeline": Pipeline, "Retention": Retention, "Schedule": Schedule, "Submission": Submission,
    "Sources": Source, "Time columns": TimeColumn, "Watermark": Watermark, "Stages": Stage,
    "Element time": ElementTime, "Freshness": Freshness,
    **{name.capitalize(): cls for name, cls in CONNECTORS.items()},
    **{name: cls for name, cls in BUILT_IN_WINDOWS.items() if fields(cls)},
}  # fmt: skip


TRIGGERS = {name: cls for name, cls in triggers.TRIGGERS.items() if cls.__module__.startswith("windrow.")}
"""Those of windrow itself: tests may have registered others."""


OF_THE_SOURCE = {"max_future": format_duration(MAX_FUTURE)}
"""Fields of a watermark whose default the source has."""


def default_of(field: Field[Any]) -> str:
    """The default of a field as the page writes it."""
    if field.name in OF_THE_SOURCE:
        return OF_THE_SOURCE[field.name]
    value = field.default if field.default_factory is MISSING else field.default_factory()
    if value is MISSING:
        return "required"
    written = None if value is None else kind_of(field).write(kind_of(field).accept(value))
    if written is None or written == {} or written == []:
        return "none"
    return str(written).lower() if isinstance(written, bool) else str(written)


@pytest.mark.parametrize("heading", SPECS)
def test_every_field_with_its_default(heading: str) -> None:
    table = table_of("pipeline-files", heading, "field")
    expected = [(f"`{yaml_name(field)}`", default_of(field)) for field in fields(SPECS[heading])]
    assert [(row["field"], row["default"]) for row in table] == expected


def test_every_setting_of_spark_that_is_refused() -> None:
    rows = [
        (row["setting"].strip("`"), row["must be"]) for row in table_of("operations", "Settings of Spark", "setting")
    ]
    assert rows == [(name, setting.value) for name, setting in REQUIRED.items()]


def test_every_trigger_and_its_fields() -> None:
    named = column(table_of("pipeline-files", "Triggers", "trigger"), "trigger")
    assert sorted(named) == sorted(TRIGGERS)
    how = str(table_of("pipeline-files", "Triggers", "trigger"))
    table = {row["field"].strip("`"): row["default"] for row in table_of("pipeline-files", "Triggers", "field")}
    for cls in TRIGGERS.values():
        for field in fields(cls):
            name = yaml_name(field)
            assert re.search(rf"\b{name}\b", how), name
            assert name not in table or table[name] == default_of(field), name
    assert table.keys() <= {yaml_name(field) for cls in TRIGGERS.values() for field in fields(cls)}


def test_the_semantics_tell_of_every_window_trigger_and_aggregate() -> None:
    meant = column(table_of("semantics", "Triggers", "trigger"), "trigger")
    names = {re.match(r"\w+|\{(\w+)", code)[0].strip("{") for code in meant}  # type: ignore[index]
    assert names == {*TRIGGERS, "default"}
    assert column(table_of("semantics", "Windows", "window"), "window") == list(BUILT_IN_WINDOWS)
    functions = [code.split(":")[0] for code in column(table_of("semantics", "Aggregates", "aggregate"), "aggregate")]
    assert set(functions) == set(AGGREGATES)
    assert set(column(table_of("semantics", "Watermarks", "rule"), "rule")) == {
        "bounded_delay: d", "fixed_lag: d", "punctuated: e", "processing_time",
    }  # fmt: skip


def test_every_aggregate_and_function() -> None:
    table = table_of("pipeline-files", "Aggregates", "function")
    assert column(table, "function") == AGGREGATES
    functions = column(table_of("pipeline-files", "Functions", "kind"), "functions")
    assert sorted(functions) == sorted(FUNCTIONS)


def test_every_expectation_and_its_arguments() -> None:
    table = {row["expectation"].strip("`"): row for row in table_of("quality", "Expectations", "expectation")}
    assert list(table) == list(SHAPES)
    for name, shape in SHAPES.items():
        assert coded(table[name]["arguments"]) == list(shape.arguments), name
        assert (table[name]["row"] == "yes") == shape.by_row, name


def test_every_format_type_and_reserved_name() -> None:
    assert column(tables(section("pipeline-files", "Time columns"))[1], "format") == list(TimeFormat)
    assert set(FileFormat) <= set(coded(section("pipeline-files", "Files")))
    assert set(coded(section("pipeline-files", "Schema"))) >= _SIMPLE
    assert set(coded(section("pipeline-files", "Stages"))) >= RESERVED_NAMES


def test_what_is_not_in_this_version() -> None:
    table = {row["where"]: set(coded(row["refused by name"])) for row in table_of("pipeline-files", LATER, "where")}
    assert table["pipeline"] == Pipeline.YAML_LATER
    assert table.get("source", set()) == Source.YAML_LATER
    assert not Watermark.YAML_LATER
    assert table["stage"] >= Stage.YAML_LATER
    assert table.get("aggregates", set()) == aggregates._LATER


LATER = "Not in this version"


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.name)
def test_every_example_can_be_read(path: Path, tmp_path: Path) -> None:
    """Pipelines, transcripts, and lines that are a trigger; a line that says so is refused."""
    for text in blocks(TEXTS[path], "yaml"):
        if re.search("^pipeline:", text, re.M):
            pipeline = Pipeline.from_mapping(load_yaml(text))
            assert Pipeline.from_mapping(load_yaml(pipeline.to_yaml())) == pipeline
        elif text.startswith("trigger:"):
            for line in text.splitlines():
                stage = {"window": {"fixed": {"size": "1h"}}, "aggregates": {"n": {"count": "*"}}, **load_yaml(line)}
                assert refusal(stage) == ("refused" in line), line
        elif text.startswith("window:"):
            for line in text.splitlines():
                assert not refusal({**load_yaml(line), "aggregates": {"n": {"count": "*"}}}), line
        elif text.startswith("event_time:"):
            assert TimeColumn.from_mapping(load_yaml(text)["event_time"])
        elif text.startswith("schedule:"):
            assert Schedule.from_mapping(load_yaml(text)["schedule"]).spark.env
        elif text.startswith("# conf/quality"):
            assert Suite.from_list(load_yaml(text)).expectations
        else:
            assert text.startswith("case:"), "an example is a pipeline, a part of one, a suite or a transcript"
            file = tmp_path / "example.yaml"
            file.write_text(text)
            for case in read_transcripts(file):
                assert check_on_model(case) == [], case.name


def refusal(stage: dict[str, Any]) -> bool:
    try:
        Stage.from_mapping(stage)
    except NotInThisVersion:
        raise
    except SpecError as error:
        return error.is_refusal
    return False


def test_names_in_python() -> None:
    text = PAGES["pipeline-files"]
    names = set(re.findall(r"windrow\.(\w+)\(", text))
    assert names and names <= set(windrow.__all__)


# ---------------------------------------------------------------- tables, transcripts

STAGE = Stage(window=windows.FixedWindows(size="1h"), aggregates={"n": aggregates.Count()})
RESULTS = [name for name in current_columns(STAGE) if name != "n"]


COLUMNS = {
    "current": RESULTS,
    "panes": [name for name in pane_columns(STAGE) if name not in (*RESULTS, "n")],
    "dead_letters of a stage": list(Schema.parse(STAGE_DEAD_LETTERS)),
    "ticks": list(Schema.parse(TICKS)),
    "landings": list(Schema.parse(LANDINGS)),
    "dead_letters of a source": list(Schema.parse(SOURCE_DEAD_LETTERS)),
    "raw": list(ENVELOPE),
    "quality_results": list(Schema.parse(QUALITY_RESULTS)),
    "Tables of windrow itself": [name for key, name in vars(LogColumn).items() if key.isupper()],
}


@pytest.mark.parametrize("heading", COLUMNS)
def test_every_column_of_every_table(heading: str) -> None:
    assert column(table_of("tables", heading, "column"), "column") == COLUMNS[heading]


@pytest.mark.parametrize(
    ("heading", "ddl"),
    [
        ("dead_letters of a stage", STAGE_DEAD_LETTERS),
        ("ticks", TICKS),
        ("landings", LANDINGS),
        ("dead_letters of a source", SOURCE_DEAD_LETTERS),
        ("raw", ENVELOPE_TYPES),
        ("quality_results", QUALITY_RESULTS),
    ],
)
def test_the_types_of_columns(heading: str, ddl: str) -> None:
    assert [row["type"] for row in table_of("tables", heading, "column")] == list(Schema.parse(ddl).values())


def test_the_types_of_panes() -> None:
    rows = [*table_of("tables", "current", "column"), *table_of("tables", "panes", "column")]
    assert {row["column"].strip("`"): row["type"] for row in rows} == PANE_TYPES


def test_every_column_has_a_comment() -> None:
    given = [name for ddl in (STAGE_DEAD_LETTERS, SOURCE_DEAD_LETTERS, LANDINGS, TICKS) for name in Schema.parse(ddl)]
    assert {*given, *PANE_TYPES, *ENVELOPE} == COMMENTS.keys()
    assert QUALITY_COMMENTS.keys() == Schema.parse(QUALITY_RESULTS).keys()


def test_every_pane_field_in_the_semantics() -> None:
    """Those that no table of their own tells of."""
    told = set(column(table_of("semantics", "Panes", "field"), "field"))
    elsewhere = {"window_start", "window_end", "change", "weight"}
    assert told == {*COLUMNS["current"], *COLUMNS["panes"]} - elsewhere


def test_every_field_of_a_transcript() -> None:
    case = set(column(table_of("transcripts", "A case", "field"), "field"))
    assert case == set(_CASE_FIELDS)
    assert column(table_of("transcripts", "A step", "field"), "field") == list(_STEP_FIELDS)
    fields_of_panes = set(coded(section("transcripts", "Panes and dead letters")))
    assert {*PANE_FIELDS, *DEAD_FIELDS} <= fields_of_panes


# ---------------------------------------------------------------- commands, environment, layers


def commands() -> dict[str, Any]:
    """The commands that people see."""
    every = typer.main.get_command(app).commands  # type: ignore[attr-defined]
    return {name: command for name, command in every.items() if not command.hidden}


def test_every_command_and_option() -> None:
    named = column(table_of("operations", "Commands", "command"), "command")
    assert [text.split()[1] for text in named] == list(commands())
    rows = table_of("operations", "Commands", "option")
    told = {option: row["of"] for row in rows for option in coded(row["option"])}
    have: dict[str, list[str]] = {"--help": list(commands())}
    for name, command in commands().items():
        for parameter in command.params:
            for option in parameter.opts:
                if option.startswith("--") and option != "--help":
                    have.setdefault(option, []).append(name)
    assert set(told) == set(have)
    for option, of in told.items():
        assert set(have[option]) == commands_of(of), option


def commands_of(text: str) -> set[str]:
    """`all`, `all but check`, or `backfill, reconcile`."""
    everyone = set(commands())
    if text.startswith("all"):
        return everyone - set(text.removeprefix("all").removeprefix(" but ").split(", "))
    return set(text.split(", "))


def test_every_metric_and_its_labels() -> None:
    rows = table_of("operations", "Metrics", "metric")
    told = {row["metric"].strip("`"): tuple(coded(row["labels"])) for row in rows}
    expected = {f"{name}{'_total' if one.kind == 'counter' else ''}": one.labels for name, one in FAMILIES.items()}
    assert told == expected


def test_every_exit_code() -> None:
    codes = [int(row["exit code"]) for row in table_of("operations", "Commands", "exit code")]
    assert codes == [0, 1, 2, INTERRUPTED]


def test_every_environment_variable() -> None:
    code = "\n".join(path.read_text() for path in (ROOT / "lib").rglob("*.py"))
    told = column(table_of("operations", "Environment variables", "variable"), "variable")
    assert set(re.findall(r"\bWINDROW_[A-Z_]+\b", code)) <= set(told)


def test_every_folder_of_the_library_and_of_the_tests() -> None:
    rows = table_of("design", "Layers", "folder of `lib/windrow`")
    told = {folder.rstrip("/") for row in rows for folder in coded(row["folder of `lib/windrow`"])}
    library = ROOT / "lib" / "windrow"
    packages = {str(path.parent.relative_to(library)) for path in library.rglob("__init__.py")} - {"."}
    assert told | set(LAYERS) == packages
    folders = {path.name for path in (ROOT / "tests").iterdir() if path.is_dir() and not path.name.startswith("_")}
    assert {f"tests/{name}/" for name in folders} == set(column(table_of("design", "Tests", "folder"), "folder"))


def test_every_file_that_is_named_is_there() -> None:
    named = [code for row in tables(section("design", "Layers"))[1] for code in coded(row["touch"])]
    places = [code for code in named if code.endswith((".py", "/"))]
    missing = [name for name in places if not any((root / name).exists() for root in (ROOT, ROOT / "lib/windrow"))]
    assert places and not missing


def test_the_point_that_is_named_is_one() -> None:
    named = re.search(r"WINDROW_KILL_AT=([a-z:_]+)", PAGES["design"])
    assert named is not None and named[1] in POINTS


# ---------------------------------------------------------------- drawings


DRAWN = {
    name: text
    for file in sorted(TRANSCRIPTS.glob("*.yaml"))
    for case in read_transcripts(file)
    for name, text in drawings(case)
}
"""Every case as `windrow check FILE --draw DIR` draws it. They are run on the engine and on the model."""
SHOWN = sorted(
    path
    for path in (ROOT / "docs" / "drawings").glob("*.svg")
    if not path.name.startswith(("benchmark-", "scale-", "soak"))
)


@pytest.mark.parametrize("path", SHOWN, ids=lambda path: path.stem)
def test_the_drawings_are_those_of_the_transcripts(path: Path) -> None:
    """`DRAW=1 python -m pytest tests/spec/test_docs.py -k drawings` draws those anew that the pages show."""
    if os.environ.get("DRAW"):
        path.write_text(DRAWN[path.stem])
    assert path.read_text() == DRAWN[path.stem]
    assert any(f"drawings/{path.name}" in text for text in PAGES.values())


def test_every_figure_of_the_paper_is_shown() -> None:
    for file in ("drawings.yaml", "paper.yaml"):
        for case in read_transcripts(TRANSCRIPTS / file):
            assert f"drawings/{case.name}.svg" in PAGES["semantics" if file == "drawings.yaml" else "pictures"]


def test_what_the_airflow_of_the_demo_preloads_is_what_the_page_says() -> None:
    assert f"mp_forkserver_preload = {','.join(PRELOADED)}\n" in PAGES["quality"]
