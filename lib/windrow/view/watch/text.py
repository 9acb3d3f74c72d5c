"""A look as text for a terminal, and as plain values for machines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from windrow.spec.times import INFINITY, MINUS_INFINITY, format_time
from windrow.view.status import StageStatus, status_mapping, status_sections
from windrow.view.text.sections import Section, laid_out
from windrow.view.watch.look import Look, age, units_of
from windrow.view.watch.waits import waits_of


def look_text(look: Look, width: int) -> str:
    """What waits for what, and the sections of `windrow status` with the rate of each stage; no control characters."""
    sections = [Section(f"{look.pipeline}, looked at {look.at} UTC", [("", [look.headline[1]])])]
    waits = [f"{one.what}, for {one.waits_for}" for one in waits_of(look)]
    sections += [Section("What waits for what", [("", waits)])] if waits else []
    sections += [stage_section(look, stage) for stage in look.stages]
    sections += status_sections(look.sources, [])
    text = laid_out(sections, width)
    return "".join(letter if letter.isprintable() or letter == "\n" else "\N{REPLACEMENT CHARACTER}" for letter in text)


def stage_section(look: Look, stage: StageStatus) -> Section:
    """What `windrow status` says of a stage, with when its last tick was committed, and its rate."""
    (section,) = status_sections([], [stage])
    rate, commit, lag = look.rate_of(stage.stage), look.commit_of(stage), watermark_lag(stage)
    rows: list[tuple[str, Sequence[str]]] = []
    for label, lines in section.rows:
        if label == "last tick":
            rows.append((label, [*lines, *filter(None, [commit])]))
            rows.append(("rate", [] if rate is None else [rate.text(units_of(stage))]))
        elif label == "watermark" and lag:
            rows.append((label, [f"{lines[0]}, {lag} behind the last tick", *lines[1:]]))
        else:
            rows.append((label, lines))
    return Section(section.title, rows)


def watermark_lag(stage: StageStatus) -> str:
    """How far the watermark is behind the processing time of the last tick; empty where one of them is infinite."""
    if stage.now is None or stage.watermark in (None, INFINITY, MINUS_INFINITY) or stage.now == MINUS_INFINITY:
        return ""
    assert stage.watermark is not None
    return age(stage.now - stage.watermark)


def look_mapping(look: Look) -> dict[str, Any]:
    """The same for machines: what `windrow status --json` says, and with it what only a watch does."""
    tone, sentence = look.headline
    found = status_mapping(look.sources, look.stages)
    for mapped, stage in zip(found["stages"], look.stages, strict=True):
        rate = look.rate_of(stage.stage)
        mapped["rate"] = None if rate is None else asdict(rate)
        mapped["late_to_restate"] = look.late.get(stage.stage, 0)
    return {
        "pipeline": look.pipeline,
        "looked_at": format_time(look.standing.now),
        "tone": str(tone),
        "headline": sentence,
        "waits": [asdict(one) for one in waits_of(look)],
        **found,
    }
