"""`windrow watch`: a pipeline watched, in a terminal or as a page."""

from __future__ import annotations

import json
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Annotated

import typer

from windrow.cli.common import Common, command
from windrow.cli.options import Json, seconds_of, width
from windrow.spec.errors import SpecError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from windrow.drivers.inspect.watch.watcher import Watcher
    from windrow.view.watch.look import Look

PORT = 8642
"""Where the page is, unless somebody says otherwise."""

Once = Annotated[bool, typer.Option("--once", help="Look once, and end.")]
Every = Annotated[str, typer.Option("--every", metavar="DURATION", help="How often to look.")]
Serve = Annotated[bool, typer.Option("--serve", help="Show it as a page to the browsers of this machine.")]
Port = Annotated[
    int | None,
    typer.Option("--port", metavar="N", min=0, max=65535, help="Where the page is; 0: any free port.",
                 show_default=str(PORT)),
]  # fmt: skip


@command
def watch(
    common: Common,
    once: Once = False,
    every: Every = "5s",
    serve: Serve = False,
    port: Port = None,
    as_json: Json = False,
) -> None:
    """Watch where each stage stands: watermarks, lag, rate, panes, dead letters, and what waits for what.

    It looks at the tables of the lake again and again, so it tells of a stream that is down, too, and never disturbs
    one. Ctrl-C ends it.

    Example: windrow watch conf/pipelines/flights.yaml --serve
    """
    pipeline, seconds = common.pipeline, seconds_of("--every", every)
    if port is not None and not serve:
        raise SpecError("--port", "is where --serve shows the page, and goes with it", port)
    for option, is_given in (("--once", once), ("--json", as_json)):
        if serve and is_given:
            raise SpecError("--serve", f"does not go with {option}")
    show = _as_json if as_json else _as_text

    def watched(spark: SparkSession | None) -> None:
        from windrow.drivers.inspect.watch.reading import look_at
        from windrow.drivers.inspect.watch.watcher import Watcher

        watcher = Watcher(lambda: look_at(pipeline, spark, common.typed), seconds)
        if serve:
            _serve(watcher, PORT if port is None else port)
        elif once:
            typer.echo(show(watcher.newest()))
        elif as_json or not sys.stdout.isatty():
            _print(watcher, show)
        else:
            _redraw(watcher)

    with _ended_quietly():
        common.looked(watched)


@contextmanager
def _ended_quietly() -> Iterator[None]:
    """Ctrl-C ends what is within, as it was meant to end; SIGTERM does the same."""
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        with suppress(KeyboardInterrupt):
            yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _as_text(look: Look) -> str:
    from windrow.view.watch.text import look_text

    return look_text(look, width())


def _as_json(look: Look) -> str:
    from windrow.view.watch.text import look_mapping

    return json.dumps(look_mapping(look), default=str, ensure_ascii=False)


def _print(watcher: Watcher, show: Callable[[Look], str]) -> None:
    """A block for each look, and a line between two of them; of JSON a line."""
    typer.echo(show(watcher.newest()))
    while True:
        time.sleep(watcher.every)
        if show is _as_text:
            typer.echo()
        typer.echo(show(watcher.newest()))


def _redraw(watcher: Watcher) -> None:
    """The newest look in place of the one before; as much of it as the screen has lines."""
    from rich.console import Console
    from rich.live import Live
    from rich.text import Text

    def block() -> Text:
        return Text(_as_text(watcher.newest()), no_wrap=True, overflow="crop")

    with Live(block(), console=Console(highlight=False), auto_refresh=False, vertical_overflow="ellipsis") as live:
        live.refresh()
        while True:
            time.sleep(watcher.every)
            live.update(block(), refresh=True)


def _serve(watcher: Watcher, port: int) -> None:
    """Answer for the page until somebody ends it; what is wrong with the lake is said now, and not to a browser."""
    from windrow.drivers.inspect.watch.serving import address_of, served
    from windrow.view.watch.page import page

    pipeline = watcher.newest().pipeline
    with served(lambda: page(watcher.newest(), watcher.every), port) as server:
        typer.echo(f"{pipeline} on {address_of(server)}", err=True)
        server.serve_forever()
