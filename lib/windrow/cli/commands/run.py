"""`windrow run`: the stream."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from windrow.cli.common import Common, command
from windrow.cli.options import Json, seconds_of
from windrow.view.run import TickLine, Ticks

if TYPE_CHECKING:
    from windrow.drivers.stream.progress import Progress

Once = Annotated[bool, typer.Option("--once", help="Take what is there and end; open windows go on with the next run.")]
Drain = Annotated[
    bool, typer.Option("--drain", help="As --once, and then complete all windows: the watermark goes to +infinity.")
]
Every = Annotated[str, typer.Option("--every", metavar="DURATION", help="How often to look for new rows.")]
FromStart = Annotated[
    bool, typer.Option("--from-start", help="Begin a new generation of every stage, rebuilt from raw.")
]


@command
def run(
    common: Common,
    once: Once = False,
    drain: Drain = False,
    every: Every = "10s",
    from_start: FromStart = False,
    as_json: Json = False,
) -> None:
    """Run a pipeline as a stream: land rows, tick, project the tables. SIGTERM and Ctrl-C end it after the tick.

    Example: windrow run conf/pipelines/flights.yaml --once --drain
    """
    pipeline = common.pipeline
    seconds = seconds_of("--every", every)
    ticks = Ticks([stage.name for stage in pipeline.stages], as_json, typer.echo)
    with common.gate_told(), common.session(judges=True) as spark:
        from windrow.drivers.stream import stream

        with stream.stopped_by_signals() as stop:
            stream.run(
                pipeline,
                spark,
                once=once,
                drain=drain,
                every=seconds,
                from_start=from_start,
                watch=lambda progress: ticks.show(tick_line(progress)),
                stop=stop,
            )
            ticks.end(stopped=stop.is_set())


def tick_line(progress: Progress) -> TickLine:
    """A tick that the stream reports, in the words of the view."""
    control, counters = progress.control, progress.counters
    return TickLine(
        stage=progress.stage,
        tick=control.tick,
        kind=control.kind,
        rows=counters.read,
        watermark=control.clock.watermark,
        panes=counters.panes,
        retracted=counters.retractions,
        late=counters.late + counters.closed,
        dead=counters.rejected,
        behind=progress.lag,
        ms=control.duration_ms,
    )
