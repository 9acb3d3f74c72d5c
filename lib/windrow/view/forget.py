"""What was forgotten, as text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

from windrow.spec.times import format_time
from windrow.view.text.times import many


class Rows(Protocol):
    """What became of a source."""

    @property
    def source(self) -> str: ...
    @property
    def rows(self) -> int: ...
    @property
    def unreadable(self) -> int: ...
    @property
    def step(self) -> int | None: ...


class Windows(Protocol):
    """What became of a stage."""

    @property
    def stage(self) -> str: ...
    @property
    def windows(self) -> int: ...
    @property
    def tick(self) -> int | None: ...
    @property
    def left(self) -> int: ...
    @property
    def whole_from(self) -> int | None: ...


class Pages(Protocol):
    """The pages of runs that were written again, and those that nobody can make again."""

    @property
    def written(self) -> Sequence[str]: ...
    @property
    def left(self) -> Sequence[str]: ...


class Done(Protocol):
    """What was done."""

    @property
    def sources(self) -> Sequence[Rows]: ...
    @property
    def stages(self) -> Sequence[Windows]: ...
    @property
    def unnamed(self) -> Sequence[str]: ...
    @property
    def pages(self) -> Pages: ...


def forgotten_text(done: Done, typed: str, dry_run: bool) -> str:
    """A line for each source and each stage, and what to type next."""
    return "\n".join(_lines(done, typed, dry_run))


def _lines(done: Done, typed: str, dry_run: bool) -> Iterator[str]:
    for one in done.sources:
        if dry_run:
            yield f"{one.source}: {many(one.rows, 'row')} would be forgotten"
        elif one.step is None:
            yield f"{one.source}: no row to forget"
        else:
            yield f"{one.source}: {many(one.rows, 'row')} forgotten, landing step {one.step}"
        if one.unreadable:
            left = "cannot be read, so nobody can tell whose they are; --unreadable forgets them all"
            yield f"{one.source}: {many(one.unreadable, 'row')} {left}"
    for stage in done.stages:
        if stage.tick is not None:
            yield f"{stage.stage}: {many(stage.windows, 'window')} made of the other rows, tick {stage.tick}"
        if stage.left:
            yield f"{stage.stage}: {many(stage.left, 'window')} left as they are, because others are part of them"
        if stage.whole_from is not None:
            first = f"windows that start before {format_time(stage.whole_from)} stay as they are"
            yield f"{stage.stage}: {first}, unless their key is the person: their rows were removed by age"
    for name in done.unnamed:
        yield f"{name}: is in the lake, and no source or stage of the pipeline file: nothing is forgotten there"
    if done.pages.written:
        folders = ", ".join(dict.fromkeys(page.rpartition("/")[0] for page in done.pages.written))
        yield f"{many(len(done.pages.written), 'page')} written again in {folders}"
    for page in done.pages.left:
        yield f"{page}: cannot be made again, and may have values of the rows: delete it"
    if any(one.step is not None for one in done.sources) or any(one.tick is not None for one in done.stages):
        yield f"windrow maintain {typed} --keep 0h removes it from old versions of the tables"
        yield "pages in other folders are as they were: name them with --pages, or delete them"
