"""What is said of a window in words: what each tick did to it, what was corrected, and where missing rows are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from windrow.drivers.inspect.explain.computing.following import Verdict
from windrow.drivers.inspect.explain.question import Bounds
from windrow.drivers.inspect.explain.reading.elements import Member
from windrow.drivers.inspect.explain.reading.rows import Row
from windrow.drivers.inspect.explain.reading.ticks import Ticks, expiry_of, known
from windrow.drivers.inspect.explain.triggers.nodes import short_of
from windrow.drivers.inspect.waiting.holding import Holding
from windrow.spec.stages.stage import Stage
from windrow.spec.times import INFINITY
from windrow.spec.words import length, many
from windrow.store.journal.control import READING, Control
from windrow.view.explain.life import FILTERED, IN_RESULT, NOT_KNOWN, NOT_READ, LifeElement, LifeTick
from windrow.view.text.times import moment

_MOST = 5
"""So many rows of a kind are named one by one."""


@dataclass(frozen=True)
class Telling:
    """What the ticks of a stage did to a window, with its rows of `panes`."""

    stage: Stage
    window: Bounds
    ticks: Ticks
    holding: Holding
    members: Sequence[Member]
    rows: Sequence[Row]
    verdicts: Mapping[int, Verdict] | None

    def life_ticks(self) -> Iterator[LifeTick]:
        """The ticks that brought something, showed something, or ended something; and how it stands now."""
        for control in self._of_interest():
            shown = [row for row in self.rows if row["tick"] == control.tick]
            brought = Counter(m.place for m in self.members if m.control is not None and m.control.tick == control.tick)
            yield LifeTick(
                tick=control.tick,
                kind=control.kind,
                processing_time=known(control.clock.now),
                watermark_before=control.watermark_before,
                watermark=control.clock.watermark,
                brought=dict(brought),
                why=[*self._why(control, shown), *self._ends(control)],
                fired=any(row["weight"] > 0 for row in shown),
            )

    def _of_interest(self) -> list[Control]:
        wanted = {member.control.tick for member in self.members if member.control is not None}
        wanted |= {row["tick"] for row in self.rows}
        wanted |= {control.tick for control, _ in self.ticks.backfills(self.window)}
        wanted |= {control.tick for control in self.ticks.controls if self._ends(control)} if wanted else set()
        last = self.ticks.last
        if last is not None and last.clock.watermark < expiry_of(self.stage, self.window):
            wanted.add(last.tick)
        return [control for control in self.ticks.controls if control.tick in wanted]

    def _why(self, control: Control, shown: Sequence[Row]) -> list[str]:
        verdict = (self.verdicts or {}).get(control.tick)
        panes = [row for row in shown if row["weight"] > 0]
        if panes:
            return [f"{row['timing']}: {self._fired(control, row, verdict)}" for row in panes[:1]]
        if shown:
            reason = "; ".join(verdict.words) if verdict is not None else f"by a {control.kind}"
            return [f"retracted: {reason}"]
        if control.kind not in READING:
            is_made = any(one.tick == control.tick for one, _ in self.ticks.backfills(self.window))
            return ["the rows give what was shown already"] if is_made else []
        if verdict is not None:
            words = "; ".join(verdict.words)
            return [f"no pane: {words}" if verdict.is_ready else f"not yet: {words}{self._back(control, words)}"]
        end, watermark = self.window[1], control.clock.watermark
        if self.verdicts is not None or watermark >= end:
            return []
        words = short_of(watermark, end, "the end of the window")
        return [f"not yet: {words}{self._back(control, words)}"]

    def _fired(self, control: Control, row: Row, verdict: Verdict | None) -> str:
        """`3 new elements (after_count)`."""
        if control.kind not in READING:
            return f"a {control.kind} made the window from the rows ({row['trigger']})"
        if verdict is not None and verdict.pane is not None:
            return f"{'; '.join(verdict.words)} ({row['trigger']})"
        if row["trigger"] == "expiry":
            return "the window expires with elements that no pane has shown (expiry)"
        return f"the trigger fired ({row['trigger']})"

    def _back(self, control: Control, words: str) -> str:
        back = self.holding.back(control) if "the watermark is" in words else ""
        return f" ({back})" if back else ""

    def _ends(self, control: Control) -> list[str]:
        """What of the window a tick ends."""
        before, after, expiry = control.watermark_before, control.clock.watermark, expiry_of(self.stage, self.window)
        drained = " (the stream was drained)" if after == INFINITY else ""
        found = []
        if before < self.window[1] <= after:
            found.append(f"the window is complete{drained}")
        if before < expiry <= after:
            found.append("the window expires: an element for it is late from now on")
        return found


def corrections(ticks: Ticks, window: Bounds, rows: Sequence[Row], elements: Sequence[LifeElement]) -> list[str]:
    """What backfills and restatements did to the window."""
    said = []
    for control, interval in ticks.backfills(window):
        panes = [row for row in rows if row["tick"] == control.tick]
        late = sum(element.restated_by == control.tick for element in elements)
        counts = f", {many(late, 'late element')} among them" if late else ""
        what = "shows what it found" if panes else "found what was shown"
        steps = ", ".join(f"{name or 'step'} {step}" for name, step in interval.offsets.steps.items())
        said.append(f"tick {control.tick}, a {control.kind}, made it again from the rows up to {steps}{counts}: {what}")
    return said


def missing(members: Sequence[Member], elements: Sequence[LifeElement], decided: bool) -> list[str]:
    """Where the rows of the key are that the results do not count; and that there are none, if that is known."""
    said = []
    inside = [element for element, member in zip(elements, members, strict=True) if member.is_element]
    if not inside and decided:
        said.append("no row of this key fell into the window")
    by_place: dict[str, list[LifeElement]] = {}
    for element in elements:
        if element.place != IN_RESULT:
            by_place.setdefault(element.place, []).append(element)
    for place, some in by_place.items():
        said += _of_place(place, some)
    return said


def _of_place(place: str, some: Sequence[LifeElement]) -> list[str]:
    number = len(some)
    if place == FILTERED:
        whys = "; ".join(dict.fromkeys(element.why for element in some))
        return [f"{many(number, 'row')} of this key {'was' if number == 1 else 'were'} filtered ({whys})"]
    if place == NOT_KNOWN:
        whys = "; ".join(dict.fromkeys(element.why for element in some))
        return [f"{many(number, 'row')} of this key may be elements or not ({whys})"]
    if place == NOT_READ:
        return [f"{many(number, 'element')} {'has' if number == 1 else 'have'} landed, and no tick has read it yet"]
    lines = [f"one is a dead letter `{place}`{_where(element)}" for element in some[:_MOST]]
    if number > _MOST:
        lines.append(f"{many(number - _MOST, 'other')} {'is' if number == _MOST + 1 else 'are'} `{place}` too")
    return lines


def _where(element: LifeElement) -> str:
    at = "without an event time" if element.event_time is None else f"of {moment(element.event_time)}"
    arrived = "" if element.arrival_time is None else f", arrived {moment(element.arrival_time)}"
    file = "" if element.offset is None else f", in {element.offset}"
    tick = "" if element.tick is None else f", read by tick {element.tick}"
    restated = "" if element.restated_by is None else f"; tick {element.restated_by} has counted it since"
    why = f" ({element.why})" if element.why else ""
    return f"{why}: {at}{arrived}{file}{tick}{restated}"


def rules(stage: Stage) -> list[tuple[str, str]]:
    """What the stage says of itself, as far as it concerns one window."""
    lateness = length(stage.allowed_lateness) if stage.allowed_lateness else "none"
    fires = "; ".join(line.strip() for line in stage.trigger.plan_lines())
    return [("windows", stage.window.words()), ("fires", fires), ("panes", str(stage.accumulation)),
            ("lateness", lateness)]  # fmt: skip
