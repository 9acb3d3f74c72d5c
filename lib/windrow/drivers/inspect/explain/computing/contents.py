"""What a window holds after some of its elements, computed from the rows. Rule: docs/semantics.md#aggregates."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from windrow.drivers.inspect.explain.computing.aggregates import Pair, computed
from windrow.drivers.inspect.explain.reading.judging import Judged
from windrow.spec.evaluation.evaluate import Evaluator
from windrow.spec.evaluation.kinds import Failed, NotEvaluated
from windrow.spec.expressions import Expression
from windrow.spec.stages.stage import Stage


@dataclass
class Contents:
    """The results of a stage over elements. `kinds` are the types of what the aggregates take, by their names.

    `key` are the values of the keys and `key_kinds` their types, which conditions over results may read. `unknown`
    grows with the results that could not be computed here.
    """

    stage: Stage
    kinds: Mapping[str, str]
    key: Mapping[str, Any]
    result_kinds: Mapping[str, str]
    unknown: dict[str, None] = field(default_factory=dict)

    def results(self, elements: Sequence[Judged]) -> dict[str, Any]:
        """The aggregates and derived columns that are known here, by name."""
        found: dict[str, Any] = {}
        if self.stage.join is not None:
            self.unknown["the rows of a join are not computed here"] = None
            return found
        for name, aggregate in self.stage.aggregates.items():
            try:
                if name not in self.kinds:
                    continue
                found[name] = computed(aggregate, self.kinds[name], _net(name, elements))
            except NotEvaluated as what:
                self.unknown[f"{name}: {what}"] = None
        for name, expression in self.stage.derive.items():
            try:
                found[name] = self._over(expression, found)
            except Failed:
                found[name] = None
            except NotEvaluated as what:
                self.unknown[f"{name}: {what}"] = None
        return found

    def holds(self, condition: Expression, elements: Sequence[Judged]) -> bool:
        """Whether a condition holds over the results. Raises NotEvaluated."""
        try:
            return self._over(condition, self.results(elements)) is True
        except Failed:
            return False

    def shows(self, results: Mapping[str, Any]) -> bool:
        """Whether a pane of these results passes `having`. Raises NotEvaluated."""
        if self.stage.having is None:
            return True
        try:
            return self._over(self.stage.having, results) is True
        except Failed:
            return False

    def _over(self, expression: Expression, results: Mapping[str, Any]) -> Any:
        return Evaluator(self.result_kinds).evaluate(expression, {**self.key, **results})


def net(elements: Sequence[Judged]) -> int:
    """How many elements are left when those that are taken back are subtracted."""
    return sum(element.weight for element in elements)


def _net(name: str, elements: Sequence[Judged]) -> list[Pair]:
    """The event times and values of the elements that are left. Raises NotEvaluated for values with parts."""
    here = [element for element in elements if name in element.values]
    if all(element.weight > 0 for element in here):
        return [(_time(element), element.values[name]) for element in here]
    counts: Counter[Pair] = Counter()
    try:
        for element in here:
            counts[_time(element), element.values[name]] += element.weight
    except TypeError:
        raise NotEvaluated("values with parts that are taken back") from None
    return list(counts.elements())


def _time(element: Judged) -> int:
    assert element.event_time is not None, "an element has an event time"
    return element.event_time
