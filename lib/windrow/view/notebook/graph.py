"""Which stage reads what, as a drawing: each stage in a rank behind all that it reads.

Ranks lie below each other, or beside each other where that is narrower. An arrow that passes other ranks on its way has
a vertex in each of them, so that it runs between the boxes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import mean

from windrow.spec.pipelines.pipeline import Pipeline
from windrow.spec.sources.source import Source
from windrow.spec.stages.graph import reads_of
from windrow.spec.stages.stage import Stage
from windrow.view.plan.stages import in_short

HEIGHT = 44.0
"""Of a box."""
_WIDEST = 250.0
_MARGIN, _LANE, _HEAD = 8.0, 10.0, 7.0
_NAME, _WORDS = 8.0, 6.2
"""About how wide a letter is."""

Vertex = str | tuple[str, str, int]
"""A source or stage by its name; or of an arrow, by its ends and the rank that it passes."""
Reads = Mapping[str, Mapping[str, str]]
"""By stages: what each reads, and the names of the inputs that do."""
Ranks = list[list[Vertex]]


@dataclass(frozen=True)
class Box:
    """A source or a stage. `name` and `words` may be cut off; the whole of them is in `title`."""

    x: float
    y: float
    width: float
    name: str
    words: str
    title: str
    is_source: bool


@dataclass(frozen=True)
class Arrow:
    """A line, its head, and the input that it leads to, if that has a name: from `x` on to the right, or up to it."""

    line: str
    head: str
    label: str
    x: float
    y: float
    anchor: str


@dataclass(frozen=True)
class Graph:
    """The drawing, in its own units; `words` is what it shows."""

    width: float
    height: float
    boxes: Sequence[Box]
    arrows: Sequence[Arrow]
    words: str


@dataclass(frozen=True)
class _Spot:
    """Where a vertex is: from its begin to its end along the arrows, and its middle across them."""

    begin: float
    end: float
    across: float


@dataclass(frozen=True)
class _Layout:
    """How ranks lie. `widths` are those of their boxes: one for each rank."""

    ranks: Ranks
    widths: Sequence[float]

    @property
    def is_upright(self) -> bool:
        """Whether ranks lie below each other."""
        return max(map(len, self.ranks)) <= len(self.ranks)

    @property
    def lengths(self) -> Sequence[float]:
        """Of the boxes of ranks, along the arrows."""
        return [HEIGHT] * len(self.ranks) if self.is_upright else self.widths

    @property
    def size(self) -> tuple[float, float]:
        """Along, and across."""
        along = sum(self.lengths) + self._between * (len(self.ranks) - 1)
        return along + 2 * _MARGIN, max(map(self._across, range(len(self.ranks)))) + 2 * _MARGIN

    def spots(self) -> dict[Vertex, _Spot]:
        """Where the vertices are; every rank is centred."""
        found, begin = {}, _MARGIN
        for number, (rank, length) in enumerate(zip(self.ranks, self.lengths, strict=True)):
            across = (self.size[1] - self._across(number)) / 2
            for vertex in rank:
                wide = self.wide(vertex, number)
                found[vertex] = _Spot(begin, begin + length, across + wide / 2)
                across += wide + self._beside
            begin += length + self._between
        return found

    def wide(self, vertex: Vertex, rank: int) -> float:
        """How wide a vertex is, across the arrows."""
        return _LANE if not isinstance(vertex, str) else self.widths[rank] if self.is_upright else HEIGHT

    def point(self, along: float, across: float) -> tuple[float, float]:
        """As x and y."""
        return (across, along) if self.is_upright else (along, across)

    def text(self, along: float, across: float) -> str:
        """The point in a path."""
        return "{:.1f},{:.1f}".format(*self.point(along, across))

    @property
    def _between(self) -> float:
        return 38.0 if self.is_upright else 54.0

    @property
    def _beside(self) -> float:
        return 20.0 if self.is_upright else 12.0

    def _across(self, number: int) -> float:
        rank = self.ranks[number]
        return sum(self.wide(vertex, number) for vertex in rank) + self._beside * (len(rank) - 1)


def graph_of(pipeline: Pipeline) -> Graph:
    """The drawing of a pipeline."""
    reads = {stage.name: _inputs_by_upstream(stage) for stage in pipeline.stages}
    named: dict[str, Source | Stage] = {source.name: source for source in pipeline.sources}
    named.update({stage.name: stage for stage in pipeline.stages})
    ranks = _ordered(_ranks(named, reads), reads)
    widths = [_width(named[vertex] for vertex in rank if isinstance(vertex, str)) for rank in ranks]
    layout = _Layout(ranks, widths)
    spots = layout.spots()
    width_of = {vertex: width for rank, width in zip(ranks, widths, strict=True) for vertex in rank}
    boxes = [_box(one, layout, spots[name], width_of[name]) for name, one in named.items()]
    arrows = [
        arrow for name, upstreams in reads.items() for arrow in _arrows(layout, spots, name, upstreams, width_of[name])
    ]
    return Graph(*layout.point(*layout.size), boxes, arrows, _in_words(reads))


def _inputs_by_upstream(stage: Stage) -> Mapping[str, str]:
    """What a stage reads, each once, with the names of the inputs that read it."""
    found: dict[str, list[str]] = {}
    for name, upstream in reads_of(stage).items():
        found.setdefault(upstream, []).append(name)
    return {upstream: ", ".join(filter(None, names)) for upstream, names in found.items()}


def _ranks(names: Iterable[str], reads: Reads) -> Ranks:
    """The vertices by ranks: each stage in the one behind the last that it reads."""
    rank_of: dict[str, int] = {}
    for name in names:  # a stage stands behind all that it reads
        rank_of[name] = 1 + max((rank_of[upstream] for upstream in reads.get(name, ())), default=-1)
    ranks: Ranks = [[] for _ in range(1 + max(rank_of.values()))]
    for name, rank in rank_of.items():
        ranks[rank].append(name)
        for upstream in reads.get(name, ()):
            for passed in range(rank_of[upstream] + 1, rank):
                ranks[passed].append((upstream, name, passed))
    return ranks


def _path(upstream: str, name: str, ranks: Ranks) -> list[Vertex]:
    passed = [
        vertex for rank in ranks for vertex in rank if not isinstance(vertex, str) and vertex[:2] == (upstream, name)
    ]
    return [upstream, *passed, name]


def _ordered(ranks: Ranks, reads: Reads) -> Ranks:
    """Ranks in which vertices stand near those that they are joined to: from the first, back, and again."""
    joined: dict[Vertex, list[Vertex]] = {vertex: [] for rank in ranks for vertex in rank}
    for name, upstreams in reads.items():
        for upstream in upstreams:
            for one, other in pairwise(_path(upstream, name, ranks)):
                joined[one].append(other)
                joined[other].append(one)
    made = [list(rank) for rank in ranks]
    there = [(rank, rank - 1) for rank in range(1, len(made))]
    back = [(rank, rank + 1) for rank in reversed(range(len(made) - 1))]
    for rank, beside in (*there, *back, *there):
        own, others = _shares(made[rank]), _shares(made[beside])
        near = {vertex: [others[one] for one in joined[vertex] if one in others] for vertex in own}
        wanted = {vertex: mean(near[vertex] or [own[vertex]]) for vertex in own}
        made[rank].sort(key=wanted.__getitem__)
    return made


def _shares(rank: list[Vertex]) -> dict[Vertex, float]:
    """How far from the beginning the vertices of a rank are, from 0 to 1."""
    return {vertex: (number + 0.5) / len(rank) for number, vertex in enumerate(rank)}


def _words(one: Source | Stage) -> str:
    return one.connector.kind_words() if isinstance(one, Source) else in_short(one)


def _width(boxes: Iterable[Source | Stage]) -> float:
    widest = max(max(len(one.name) * _NAME, len(_words(one)) * _WORDS) for one in boxes)
    return min(widest + 24, _WIDEST)


def _box(one: Source | Stage, layout: _Layout, spot: _Spot, width: float) -> Box:
    words, (x, y) = _words(one), layout.point(spot.begin, spot.across)
    x, y = (x - width / 2, y) if layout.is_upright else (x, y - HEIGHT / 2)
    name, short = _cut(one.name, int((width - 20) / _NAME)), _cut(words, int((width - 20) / _WORDS))
    return Box(x, y, width, name, short, f"{one.name}: {words}", isinstance(one, Source))


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "\N{HORIZONTAL ELLIPSIS}"


def _arrows(
    layout: _Layout, spots: Mapping[Vertex, _Spot], name: str, upstreams: Mapping[str, str], width: float
) -> Iterator[Arrow]:
    """Those that lead to a stage, side by side."""
    paths = {upstream: [spots[vertex] for vertex in _path(upstream, name, layout.ranks)] for upstream in upstreams}
    wide = width if layout.is_upright else HEIGHT
    for number, upstream in enumerate(sorted(paths, key=lambda one: paths[one][-2].across), 1):
        *before, last = paths[upstream]
        beside = replace(last, across=last.across + wide * (number / (len(paths) + 1) - 0.5))
        yield _arrow(layout, [*before, beside], upstreams[upstream])


def _arrow(layout: _Layout, path: Sequence[_Spot], label: str) -> Arrow:
    """From the end of the first box to the beginning of the last one, straight through the vertices between."""
    to = layout.text
    line = f"M{to(path[0].end, path[0].across)}"
    for one, other in pairwise(path):
        is_last = other is path[-1]
        begin = other.begin - (_HEAD if is_last else 0)
        half = (one.end + begin) / 2
        line += f" C{to(half, one.across)} {to(half, other.across)} {to(begin, other.across)}"
        line += "" if is_last else f" L{to(other.end, other.across)}"
    across = path[-1].across
    head = f"M{to(begin - 1, across - 4)} L{to(begin - 1, across + 4)} L{to(begin + _HEAD, across)} Z"
    x, y = layout.point(begin, across)
    at = (x + 7, y + 2, "start") if layout.is_upright else (x - 5, y + 4, "end")
    return Arrow(line, head, label, *at)


def _in_words(reads: Reads) -> str:
    lines = [f"{name} reads {' and '.join(upstreams)}" for name, upstreams in reads.items()]
    return f"What reads what: {'; '.join(lines)}."
