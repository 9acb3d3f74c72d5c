"""Metrics as the parser of OpenMetrics reads them, and the dashboard over them."""

import json
import re

import pytest

from windrow.spec.stages.freshness import Freshness
from windrow.spec.times import HOUR, INFINITY, MINUS_INFINITY, SECOND, parse_time
from windrow.view.freshness import StageFreshness
from windrow.view.metrics import FAMILIES, Standing, metrics_of
from windrow.view.status import PartitionStatus, SourceStatus, StageStatus
from windrow.view.templates import text_of

client = pytest.importorskip("prometheus_client")

NOW = parse_time("2024-01-01T12:00:00Z")
SOURCE = SourceStatus("clicks", 3, 120, 2, {"unreadable": 4}, NOW - HOUR, NOW - SECOND)
STAGE = StageStatus(
    stage="sums", generation=2, tick=7, now=NOW - 2 * SECOND, watermark=NOW - HOUR, rows_behind=5, batches_behind=1,
    projected_to=6, in_raw=120, read=120, in_windows=100, filtered=10, unassigned=5, dead={"bad_timestamp": 5},
    assigned=200, late=8, closed=2, timings={"early": 3, "on_time": 40, "late": 1}, retracted=4, shown=44,
    open_cells=9, backfills=1,
    partitions=[PartitionStatus("p\"0\\\n", NOW - HOUR, False), PartitionStatus(None, MINUS_INFINITY, True)],
    freshness=StageFreshness("sums", Freshness(warn="30m"), NOW - HOUR, HOUR),
)  # fmt: skip


def parsed(standing: Standing) -> dict[tuple[str, frozenset[tuple[str, str]]], float]:
    """Every sample that the parser finds, by its name and labels."""
    from prometheus_client import CollectorRegistry
    from prometheus_client.openmetrics.exposition import generate_latest
    from prometheus_client.openmetrics.parser import text_string_to_metric_families

    class Once:
        def collect(self):  # type: ignore[no-untyped-def]
            return metrics_of(standing)

    registry = CollectorRegistry(auto_describe=False)
    registry.register(Once())
    text = generate_latest(registry).decode()
    assert text.endswith("# EOF\n")
    families = list(text_string_to_metric_families(text))
    for family in families:
        assert family.type == FAMILIES[family.name].kind and family.documentation == FAMILIES[family.name].help
    return {(s.name, frozenset(s.labels.items())): s.value for family in families for s in family.samples}


def of(found: dict[tuple[str, frozenset[tuple[str, str]]], float], name: str, **labels: str) -> float:
    return found[name, frozenset({"pipeline": "p", **labels}.items())]


def test_the_parser_reads_every_metric() -> None:
    phases = {"sums": {"planning": 0.25, "commit": 1.5}}
    found = parsed(Standing("p", NOW, [SOURCE], [STAGE], phases))
    assert {name.removesuffix("_total") for name, _ in found} == set(FAMILIES)
    assert of(found, "windrow_source_rows_total", source="clicks") == 120
    assert of(found, "windrow_stage_watermark_age_seconds", stage="sums") == 3600
    assert of(found, "windrow_stage_watermark_lag_seconds", stage="sums") == 3598
    assert of(found, "windrow_stage_tick_seconds", stage="sums", phase="commit") == 1.5
    assert of(found, "windrow_stage_freshness_level", stage="sums") == 1
    assert of(found, "windrow_partition_idle", stage="sums", partition='p"0\\\n') == 0
    assert of(found, "windrow_partition_idle", stage="sums", partition="") == 1
    panes = {timing: of(found, "windrow_stage_panes_total", stage="sums", timing=timing) for timing in STAGE.timings}
    assert panes == STAGE.timings
    rows = sum(
        value
        for (name, _), value in found.items()
        if name in ("windrow_stage_rows_total", "windrow_stage_dead_rows_total")
    )
    assert rows == STAGE.read, "every row is in one place"


def test_an_infinite_time_has_no_sample() -> None:
    for watermark in (INFINITY, MINUS_INFINITY, None):
        found = parsed(Standing("p", NOW, [], [StageStatus("s", 1, tick=1, now=NOW, watermark=watermark)]))
        assert not [name for name, _ in found if "watermark" in name]


def test_a_stage_that_has_not_run_and_a_source_without_rows() -> None:
    found = parsed(Standing("p", NOW, [SourceStatus("clicks", 0)], [StageStatus("sums")]))
    assert of(found, "windrow_source_rows_total", source="clicks") == 0
    assert not [name for name, _ in found if name.startswith("windrow_stage")]


def test_partitions_that_nobody_is_shown_have_no_metrics() -> None:
    found = parsed(Standing("p", NOW, [], [STAGE], hidden=frozenset({"sums"})))
    assert not [name for name, _ in found if name.startswith("windrow_partition")]


def test_the_dashboard_asks_for_metrics_that_there_are() -> None:
    dashboard = json.loads(text_of("grafana.json"))
    known = {
        f"{name}{'_total' if one.kind == 'counter' else ''}": {"pipeline", *one.labels}
        for name, one in FAMILIES.items()
    }
    expressions = [target["expr"] for panel in dashboard["panels"] for target in panel["targets"]]
    assert len(expressions) >= len(dashboard["panels"]) >= 10
    for expression in expressions:
        named = re.findall(r"windrow_\w+", expression)
        assert named and set(named) <= set(known), expression
        for name, labels in re.findall(r"(windrow_\w+)\{([^}]*)\}", expression):
            assert set(re.findall(r"(\w+)=~?\"", labels)) <= known[name], expression
    ids = [panel["id"] for panel in dashboard["panels"]]
    places = [(panel["gridPos"]["x"], panel["gridPos"]["y"]) for panel in dashboard["panels"]]
    assert len(set(ids)) == len(ids) and len(set(places)) == len(places)
    for panel in dashboard["panels"]:
        for target in panel["targets"]:
            labels = set(re.findall(r"\{\{(\w+)\}\}", target["legendFormat"]))
            metric = re.findall(r"windrow_\w+", target["expr"])[0]
            assert labels and labels <= known[metric]
