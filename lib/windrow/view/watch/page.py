"""A look as one HTML page that asks its server for the next one, and needs nothing else: no other file, no network.

What the page may do is in its Content-Security-Policy: run its own script and styles, known by their hashes, and ask
the server that it came from.
"""

from __future__ import annotations

import hashlib
from base64 import b64encode
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import ceil

from markupsafe import Markup

from windrow.spec.times import INFINITY, MINUS_INFINITY
from windrow.view.pictures.plot import plot_svg
from windrow.view.reports.parts import REASONS
from windrow.view.status import PartitionStatus, StageStatus, idle_text, shown_partitions, status_sections
from windrow.view.templates import template, text_of
from windrow.view.text.sections import Section
from windrow.view.text.times import many, moment
from windrow.view.watch.look import Look, age, units_of
from windrow.view.watch.text import stage_section, watermark_lag
from windrow.view.watch.ticks import plots_of
from windrow.view.watch.waits import waits_of

_DRAWN = ("panes", "dead rows")
"""What the page shows otherwise than in the words of a section."""
_TIMINGS = ("early", "on_time", "late")


@dataclass(frozen=True)
class Split:
    """A part of a bar, from 0 to 100 along it."""

    name: str
    number: int
    start: float
    width: float


@dataclass(frozen=True)
class Letters:
    """How many dead letters there are of a reason, and what it means."""

    reason: str
    why: str
    number: int


@dataclass(frozen=True)
class PartitionLine:
    """A source partition in words: `state` says whether it holds the watermark back, or is idle."""

    name: str
    watermark: str
    behind: str
    state: str
    holds: bool = False


@dataclass(frozen=True)
class Card:
    """What the page shows of a stage; a single partition is no table of partitions."""

    stage: StageStatus
    section: Section
    facts: Sequence[tuple[str, str]]
    panes: Sequence[Split]
    letters: Sequence[Letters]
    partitions: Sequence[PartitionLine]
    more: str
    drawings: Sequence[Markup]

    @classmethod
    def of(cls, look: Look, stage: StageStatus) -> Card:
        plots = plots_of(stage.stage, units_of(stage), look.ticks_of(stage.stage))
        shown, more = shown_partitions(stage)
        drawn = (*_DRAWN, "watermark") if len(shown) > 1 else _DRAWN
        section = stage_section(look, stage)
        return cls(
            stage,
            Section(section.title, [(label, lines) for label, lines in section.rows if label not in drawn]),
            list(_facts(look, stage)),
            list(_panes(stage)),
            list(_letters(stage)),
            [_line(part, shown) for part in shown] if len(shown) > 1 else [],
            more,
            [Markup(plot_svg(plot, is_inline=True)) for plot in plots],
        )


def page(look: Look, every: float) -> str:
    """The page; it asks for the next look after so many seconds, and is loaded anew where scripts do not run."""
    tone, sentence = look.headline
    return template("watch/page.html").render(
        look=look, every=f"{every:g}", reload=ceil(every), tone=tone, headline=sentence, waits=list(waits_of(look)),
        cards=[Card.of(look, stage) for stage in look.stages], sources=status_sections(look.sources, []),
        many=many, moment=moment, style=Markup(_STYLE), script=Markup(_SCRIPT),
    )  # fmt: skip


def _facts(look: Look, stage: StageStatus) -> Iterator[tuple[str, str]]:
    """The numbers at the head of a card."""
    rate, lag = look.rate_of(stage.stage), watermark_lag(stage)
    yield f"{units_of(stage)}/s", "-" if rate is None else rate.number
    yield f"{units_of(stage)} to read", f"{stage.rows_behind:,}"
    yield "watermark behind", lag or "-"
    yield "open windows", f"{stage.open_cells:,}"
    yield "late rows to restate", f"{look.late.get(stage.stage, 0):,}"


def _panes(stage: StageStatus) -> Iterator[Split]:
    """The panes that were shown, by timing."""
    total, start = sum(stage.timings.values()) or 1, 0.0
    for name in _TIMINGS:
        number = stage.timings.get(name, 0)
        yield Split(name, number, start, 100 * number / total)
        start += 100 * number / total


def _letters(stage: StageStatus) -> Iterator[Letters]:
    """Rows by reason, and pairs of row and window that came too late, each where there are some."""
    found = {**stage.dead, "late": stage.late, "closed": stage.closed}
    yield from (Letters(reason, REASONS.get(reason, ""), number) for reason, number in found.items() if number)


def _line(part: PartitionStatus, shown: Sequence[PartitionStatus]) -> PartitionLine:
    ahead = max(one.watermark for one in shown)
    least = min((one.watermark for one in shown if not one.idle), default=None)
    holds = not part.idle and part.watermark == least and part.watermark < ahead
    is_known = part.watermark > MINUS_INFINITY and ahead < INFINITY
    behind = age(ahead - part.watermark) if is_known and part.watermark < ahead else ""
    state = "holds the watermark back" if holds else idle_text(part)
    return PartitionLine(part.name, moment(part.watermark), behind, state, holds)


def _hash(text: str) -> str:
    """A script or a style as a Content-Security-Policy names it."""
    return f"'sha256-{b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


_STYLE = template("watch/page.css").render()
_SCRIPT = text_of("watch/page.js")
_STYLE_OF_PLOTS = text_of("picture.css")

SECURITY_POLICY = "; ".join(
    [
        "default-src 'none'",
        f"script-src {_hash(_SCRIPT)}",
        f"style-src {_hash(_STYLE)} {_hash(_STYLE_OF_PLOTS)}",
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
        "require-trusted-types-for 'script'",
    ]
)
"""What a browser lets the page do, whatever has come into it."""
