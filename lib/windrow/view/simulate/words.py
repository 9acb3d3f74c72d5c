"""The figures of simulated specifications in sentences: what each choice buys."""

from __future__ import annotations

from collections.abc import Iterator

from windrow.spec.times import MINUTE, SECOND
from windrow.view.simulate.findings import Arrival, Findings, Simulation, Suggestion
from windrow.view.text.times import about, many, moment


def share(part: float) -> str:
    """`99.1 %`: a share, never rounded up to the whole, nor down to nothing."""
    text = f"{100 * part:.1f}"
    if part < 1 and text == "100.0":
        return "> 99.9 %"
    if part > 0 and text == "0.0":
        return "< 0.1 %"
    return f"{text.removesuffix('.0')} %"


def lag(micros: int | None) -> str:
    """How long after the end of a window: `2h 15m`, `40s`; with a minus before it."""
    if micros is None:
        return "never"
    sign, length = ("-" if micros < 0 else ""), abs(micros)
    if length < MINUTE:
        return f"{sign}{-(-length // SECOND)}s"
    return f"{sign}{about(length)}"


def title(simulation: Simulation) -> str:
    """What was simulated, over which rows."""
    span = f"{moment(simulation.first)} to {moment(simulation.last)}"
    return f"{simulation.pipeline}, stage {simulation.stage}: {many(simulation.rows, 'row')} that arrived from {span}"


def method(simulation: Simulation) -> str:
    """How, and of which windows."""
    windows = many(simulation.findings[0].windows, "window")
    out = many(simulation.unmeasured, "other has", "others have")
    left = f"; {out} not expired for every specification" if simulation.unmeasured else ""
    return f"{simulation.order} ({many(simulation.ticks, 'tick')}); figures of {windows}{left}"


def choices(simulation: Simulation) -> Iterator[str]:
    """A sentence for each specification on the Pareto front: what it buys against the first one of it."""
    on_front = [one for one in simulation.findings if one.name in simulation.front]
    for number, one in enumerate(on_front):
        first = on_front[0]
        yield _buys(one) if number == 0 else f"{_buys(one)}; {_beside(one, first)}"


def _buys(one: Findings) -> str:
    return (
        f"{one.name}: right at first for {share(one.share_right_at_first)} of windows, "
        f"{lag(one.to_on_time.median)} after their end in the median"
    )


def _beside(one: Findings, first: Findings) -> str:
    """Sooner or later than another one, and what that costs."""
    parts = []
    if one.to_on_time.median is not None and first.to_on_time.median is not None:
        ahead = first.to_on_time.median - one.to_on_time.median
        when = "as soon" if not ahead else f"{lag(abs(ahead))} {'sooner' if ahead > 0 else 'later'}"
        parts.append(when)
    if one.to_first.median is not None and one.to_first.median != one.to_on_time.median:
        parts.append(f"a first pane at {lag(one.to_first.median)}")
    written, before = f"{one.panes_per_window:.3g}", f"{first.panes_per_window:.3g}"
    rows = "row" if written == "1" else "rows"
    parts.append(f"{written} {rows} written for each window{'' if written == before else f', not {before}'}")
    return f"beside {first.name}, {', '.join(parts)}"


def of_suggestion(one: Suggestion) -> str:
    """What gives what was wished for."""
    if one.findings is None:
        return f"{one.wish}: nothing that was searched gives it"
    found = one.findings
    name, right = found.name.removeprefix("suggested: "), share(found.share_right_at_first)
    shown = lag(found.to_on_time.median)
    words = f"{one.wish}: {name} gives it: {right} of windows are right at first, {shown} after their end in the median"
    return f"{words}. --try '{one.fields}'" if one.fields not in (None, "{}") else f"{words}: as it is"


def of_arrival(windows: str, arrival: Arrival) -> str:
    """How elements arrived, whatever is tried."""
    pairs = zip(arrival.elements, arrival.complete, strict=True)
    shares = {age: (elements, complete) for (age, elements), (_, complete) in pairs}
    told = [f"{lag(age * SECOND)} {share(shares[age][0])} ({share(shares[age][1])})" for age in _TOLD if age in shares]
    return f"{windows}: arrived by age of the window's end, elements (windows with all of theirs): {', '.join(told)}"


_TOLD = (0, 600, 3600, 7200, 21600, 86400)
