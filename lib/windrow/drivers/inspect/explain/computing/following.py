"""A window followed tick by tick: what its trigger knew, and which panes follow from that and from the rows.

Rules: docs/semantics.md#ticks, docs/semantics.md#panes.

It is the rule once more, in plain Python and over one window of one key, so that it can be compared with what the
engine has committed. Windows that merge are not followed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from windrow.drivers.inspect.explain.computing.aggregates import equal
from windrow.drivers.inspect.explain.computing.contents import Contents, net
from windrow.drivers.inspect.explain.question import Bounds
from windrow.drivers.inspect.explain.reading.judging import Judged
from windrow.drivers.inspect.explain.reading.ticks import expiry_of
from windrow.drivers.inspect.explain.triggers.composites import follow
from windrow.drivers.inspect.explain.triggers.nodes import Added, Moment, Node
from windrow.spec.evaluation.kinds import NotEvaluated
from windrow.spec.expressions import Expression
from windrow.spec.stages.stage import Accumulation, Emission, Stage
from windrow.spec.times import INFINITY
from windrow.spec.triggers.all import Then, Trigger, counts_bytes, nodes_of
from windrow.store.journal.control import Control

EXPIRY = "expiry"


@dataclass(frozen=True)
class Expected:
    """The pane that a tick should have shown, by the rows. `results` are those that are known here."""

    timing: str
    trigger: str
    index: int
    is_last: bool
    results: Mapping[str, Any]


@dataclass(frozen=True)
class Verdict:
    """What became of the window in a tick: whether its trigger was ready, and why or why not, in words.

    `pane` is the one that it should have shown, `retracts` says that what was shown had to go.
    """

    is_ready: bool
    words: tuple[str, ...]
    pane: Expected | None = None
    retracts: bool = False


@dataclass
class Window:
    """A window of one key as it is followed. `is_weighted`: elements can be taken back."""

    stage: Stage
    bounds: Bounds
    contents: Contents
    is_weighted: bool = False
    elements: list[Judged] = field(default_factory=list)
    new: int = 0
    since: int = INFINITY
    index: int = 0
    has_fired_complete: bool = False
    is_closed: bool = False
    last: Mapping[str, Any] | None = None
    node: Node = field(init=False)

    def __post_init__(self) -> None:
        """Raises NotEvaluated for a trigger, or rows of panes, that only Spark can evaluate."""
        if self.stage.join is not None:
            raise NotEvaluated("which rows the panes of a join have")
        self.node = follow(self.stage.trigger)

    def after(self, control: Control, added: Sequence[Judged]) -> Verdict | None:
        """A tick with the elements that it adds; null where the window is not there yet. Raises NotEvaluated."""
        moment = self._moment(control)
        if added:
            self.node.on_elements(self._added(added), moment)
            self.elements += added
            self.new += len(added)
            self.since = min(self.since, moment.watermark_before)
        if not self.elements and not self.index and not self.new:
            return None
        if self.is_closed:
            return Verdict(False, ("the trigger has finished, so the window is closed",))
        self.node.on_watermark(moment)
        moment = replace(moment, new=self.new, holds=lambda condition: self.contents.holds(condition, self.elements))
        if not (added or moment.is_expired or self.node.is_timer_due(moment)):
            return Verdict(False, tuple(self.node.waits_for(moment)))
        return self._evaluated(moment)

    def _evaluated(self, moment: Moment) -> Verdict:
        self.node.on_evaluated(moment)
        is_ready = self.node.ready(moment)
        path = list(self.node.path(moment)) if is_ready else []
        words = (path[-1].known(moment),) if is_ready else tuple(self.node.waits_for(moment))
        if is_ready:
            self.node.on_fire(moment)
            self.is_closed = self.node.finished
        if not is_ready and not moment.is_expired:
            return Verdict(False, words)
        if moment.is_expired and not is_ready:
            words = ("the window expires",)
        if not self._is_worth_a_pane(moment):
            return Verdict(is_ready, (*words, "nothing is new, so no pane is shown"))
        return self._fired(moment, [node.trigger for node in path], is_ready, words)

    def _fired(self, moment: Moment, path: Sequence[Trigger], is_ready: bool, words: tuple[str, ...]) -> Verdict:
        if self.is_weighted and net(self.elements) <= 0:
            return self._emptied(moment, is_ready, words)
        timing, results = self._timing(moment), self.contents.results(self.elements)
        self._nothing_is_new(moment)
        if self.stage.only_if_changed and self.last is not None and self._same(results):
            return Verdict(is_ready, (*words, "the results are those of the last pane, which stands"))
        if not self.contents.shows(results):
            stood, self.last = self.last is not None, None
            return Verdict(is_ready, (*words, "`having` does not hold, so no pane is shown"), retracts=stood)
        name = path[-1].NAME if path else EXPIRY
        pane = Expected(timing, name, self.index, self.is_closed or moment.is_expired, results)
        self.index += 1
        self.last = results
        if clears(self.stage, path):
            self.elements, self.last = [], None
        return Verdict(is_ready, words, pane)

    def _emptied(self, moment: Moment, is_ready: bool, words: tuple[str, ...]) -> Verdict:
        """All elements were taken back: the last pane goes; if none stands, they stay new."""
        stood = self.last is not None
        if stood:
            self._nothing_is_new(moment)
            self.last = None
        return Verdict(is_ready, (*words, "all elements were taken back"), retracts=stood)

    def _nothing_is_new(self, moment: Moment) -> None:
        self.has_fired_complete |= moment.watermark >= moment.end
        self.new, self.since = 0, INFINITY

    def _timing(self, moment: Moment) -> str:
        if moment.watermark < moment.end:
            return "early"
        is_wanted = self.stage.on_time is Emission.ALWAYS and self._passes_the_end(moment)
        was_before = self.since < moment.end or is_wanted
        return "on_time" if not self.has_fired_complete and was_before else "late"

    def _is_worth_a_pane(self, moment: Moment) -> bool:
        on_time = self.stage.on_time is Emission.ALWAYS and self._passes_the_end(moment)
        return self.new > 0 or on_time or (self.stage.closing is Emission.ALWAYS and moment.is_expired)

    @staticmethod
    def _passes_the_end(moment: Moment) -> bool:
        return moment.watermark_before < moment.end <= moment.watermark

    def _same(self, results: Mapping[str, Any]) -> bool:
        assert self.last is not None
        if any(name not in results for name in self.stage.aggregates):
            raise NotEvaluated("whether the results are those of the last pane")
        return all(equal(results[name], self.last[name]) for name in self.stage.aggregates)

    def _moment(self, control: Control) -> Moment:
        clock = control.clock
        percentiles = {percentile: clock.percentile(percentile) for percentile in clock.percentiles}
        expiry = expiry_of(self.stage, self.bounds)
        return Moment(self.bounds[1], expiry, clock.now, control.watermark_before, clock.watermark, percentiles)

    def _added(self, added: Sequence[Judged]) -> Added:
        matches = {
            condition: sum(element.facts.get(condition) is True for element in added)
            for condition in looked_at(self.stage)
        }
        if any(condition not in element.facts for condition in looked_at(self.stage) for element in added):
            raise NotEvaluated("a condition of the trigger")
        sizes = [element.size for element in added]
        if counts_bytes(self.stage.trigger) and None in sizes:
            raise NotEvaluated("the bytes of a row")
        return Added(len(added), sum(size or 0 for size in sizes), matches)


def looked_at(stage: Stage) -> tuple[Expression, ...]:
    """The conditions over one element that the trigger of a stage looks at."""
    aggregates = [a for node in nodes_of(stage.trigger) for a in node.aggregates.values()]
    return tuple(dict.fromkeys(expression for aggregate in aggregates for expression in aggregate.expressions))


def clears(stage: Stage, path: Iterable[Trigger]) -> bool:
    """Whether a firing clears the aggregates: what the mode says, or the innermost node on the path that says it."""
    if stage.accumulation not in (Accumulation.CLEAR_BY_DEFAULT, Accumulation.ACCUMULATE_BY_DEFAULT):
        return stage.accumulation is Accumulation.DISCARDING
    thens = [node.then for node in path if node.then is not None]
    return thens[-1] is Then.CLEAR if thens else stage.accumulation is Accumulation.CLEAR_BY_DEFAULT
