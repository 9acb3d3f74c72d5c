"""When a window fires, in words: the trigger tree as lines of text. Rule: SEMANTICS section 5."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from windrow.spec.expressions.plain import plain
from windrow.spec.times import format_duration, format_time
from windrow.spec.triggers.all import (
    AfterBytes,
    AfterCount,
    AfterDelay,
    AfterMatch,
    AfterWatermark,
    AllOf,
    AtClose,
    AtPeriod,
    AtWatermark,
    Domain,
    FirstOf,
    Never,
    Repeat,
    RepeatCount,
    RepeatUntil,
    SequenceOf,
    Trigger,
    WhenResult,
    without_sugar,
)
from windrow.spec.triggers.custom import CustomTrigger

_INDENT = "  "


def firings(trigger: Trigger) -> list[str]:
    """The lines that say when a fresh trigger fires; what is inside of another is indented.

    What a node asks for with `then` stands behind its own line, or behind the last of those below it.
    """
    lines = _firings(trigger if trigger.then is None else replace(trigger, then=None))
    return lines if trigger.then is None else [*lines[:-1], f"{lines[-1]} (then: {trigger.then})"]


def _firings(trigger: Trigger) -> list[str]:
    match trigger:
        case Repeat(repeat=AtWatermark() as inner):
            return [f"{_leaf(inner)}, and then at every tick that brings new elements"]
        case Repeat(repeat=AfterCount(count=1)):
            return ["at every tick that brings new elements"]
        case Repeat(repeat=inner):
            return _headed("again and again", firings(inner))
        case RepeatCount(repeat=inner, times=times):
            return _headed(f"{times} times", firings(inner))
        case RepeatUntil(repeat=inner, until=until):
            return [*_headed("again and again", firings(inner)), *_headed("a last time", firings(until))]
        case SequenceOf(triggers=triggers):
            heads = ["first", *["then"] * (len(triggers) - 1)]
            return _joined(_headed(head, firings(inner)) for head, inner in zip(heads, triggers, strict=True))
        case FirstOf(triggers=triggers):
            return ["once, when the first of these is ready:", *_indented(_joined(map(firings, triggers)))]
        case AllOf(triggers=triggers):
            return ["once, when each of these has been ready:", *_indented(_joined(map(firings, triggers)))]
        case AfterWatermark():
            return _after_watermark(trigger)
        case _ if without_sugar(trigger) is not trigger:
            return firings(without_sugar(trigger))
        case _:
            return [_leaf(trigger)]


def _after_watermark(trigger: AfterWatermark) -> list[str]:
    early = [] if trigger.early is None else _headed("early", firings(Repeat(trigger.early)))
    late = [] if trigger.late is None else _headed("late", firings(Repeat(trigger.late)))
    return [*early, *_headed("on time", [_leaf(AtWatermark())]), *late]


def _leaf(trigger: Trigger) -> str:
    match trigger:
        case AtWatermark(percentile=percentile) if percentile < 100:
            return f"when the watermark of {percentile} percent of the partitions reaches the end of the window"
        case AtWatermark():
            return "when the watermark reaches the end of the window"
        case AfterCount(count=1):
            return "when a new element has come"
        case AfterCount(count=count):
            return f"when {count:,} new elements have come"
        case AfterBytes(bytes=size):
            return f"when {size:,} bytes of new elements have come"
        case AfterMatch(where=where, count=1):
            return f"when a new element has come with {plain(where)}"
        case AfterMatch(where=where, count=count):
            return f"when {count:,} new elements have come with {plain(where)}"
        case WhenResult(condition=condition):
            return f"at a tick that finds new elements and {plain(condition)}"
        case AfterDelay(delay=0, domain=domain):
            return f"in the tick behind that of the first new element, by {_clock(domain)}"
        case AfterDelay(delay=delay, domain=domain):
            return f"{format_duration(delay)} after the first new element, by {_clock(domain)}"
        case AtPeriod():
            return _at_period(trigger)
        case AtClose():
            return "once, when the window expires"
        case Never():
            return "never; when the window expires it gives its one pane"
        case CustomTrigger():
            return trigger.words()
        case _:
            return f"when {trigger.NAME} is ready"


def _at_period(trigger: AtPeriod) -> str:
    start = "" if trigger.reference == 0 else f", counted from {format_time(trigger.reference)}"
    zone = f" in {trigger.zone}" if trigger.is_local else ""
    period = f"{format_duration(trigger.period)}{zone}"
    return f"at the next full {period} after a new element, by {_clock(trigger.domain)}{start}"


def _clock(domain: Domain) -> str:
    return "the clock" if domain is Domain.PROCESSING_TIME else "the watermark"


def _headed(head: str, lines: list[str]) -> list[str]:
    """The head on the same line as a single line, else above them."""
    return [f"{head}: {lines[0]}"] if len(lines) == 1 else [f"{head}:", *_indented(lines)]


def _indented(lines: Iterable[str]) -> list[str]:
    return [_INDENT + line for line in lines]


def _joined(parts: Iterable[list[str]]) -> list[str]:
    return [line for part in parts for line in part]
