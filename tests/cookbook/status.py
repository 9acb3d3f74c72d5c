"""Where every row is, as `windrow status` says it, by the counts of the reference model."""

from __future__ import annotations

from collections import Counter

from tests.cookbook.model_lake import ModelLake
from tests.names.frames import standing
from windrow.spec.stages.graph import reads_of
from windrow.spec.stages.stage import Stage
from windrow.view.status import SourceStatus, StageStatus, status_sections
from windrow.view.text.sections import laid_out


def status_text(lake: ModelLake) -> str:
    """What `windrow status` prints; what depends on the clock of the machine is left at nothing."""
    sources = [
        SourceStatus(
            source.name,
            batches=lake.batches[source.name],
            rows=len(lake.landed[source.name]),
            files=len({row.file for row in lake.landed[source.name]}),
            dead=dict(lake.dead_of_source(source.name).most_common()),
        )
        for source in lake.pipeline.sources
    ]
    return laid_out(status_sections(sources, [_status(lake, stage) for stage in lake.pipeline.stages]), 200)


def _status(lake: ModelLake, stage: Stage) -> StageStatus:
    counts, panes = lake.counts(stage.name), lake.panes(stage.name)
    dead: Counter[str] = sum((Counter(one.dead) for one in counts), Counter())
    for source in reads_of(stage).values():
        dead += lake.dead_of_source(source) if source in lake.landed else Counter()
    in_windows, filtered, unassigned = (
        sum(getattr(one, name) for one in counts) for name in ("in_windows", "filtered", "unassigned")
    )
    read = in_windows + filtered + unassigned + dead.total()
    return StageStatus(
        stage.name,
        generation=1,
        tick=len(counts),
        in_raw=read,
        read=read,
        in_windows=in_windows,
        filtered=filtered,
        unassigned=unassigned,
        dead=dict(dead.most_common()),
        assigned=sum(one.assigned for one in counts),
        late=sum(one.late for one in counts),
        closed=sum(one.closed for one in counts),
        timings=Counter(pane.timing for pane in panes if pane.weight > 0),
        retracted=sum(pane.weight < 0 for pane in panes),
        shown=len(standing(stage, panes)),
    )
