"""A stage: what is computed over the elements of a source, for which keys and windows, and when it is emitted.

Rules: docs/semantics.md#windows, docs/semantics.md#triggers, docs/semantics.md#panes,
docs/semantics.md#accumulation-and-changes, docs/semantics.md#lateness-expiry-and-closing, docs/semantics.md#aggregates;
the grammar is in the pipeline reference.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Any, Literal

from windrow.spec.aggregates import AGGREGATES_BY_NAME, Aggregate
from windrow.spec.errors import SpecError
from windrow.spec.expressions import Expression
from windrow.spec.fields import forms
from windrow.spec.fields.kinds import DURATION, EXPRESSION, EXPRESSIONS, FLAG, NAME, POSITIVE_INTEGER, choice, nested
from windrow.spec.fields.reading import Kind, Named, Spec, located, write_fields
from windrow.spec.fields.typed import Converted, DurationLike, ExpressionLike, converted, plain, specification
from windrow.spec.notebooks import InNotebooks
from windrow.spec.quality.quality import QUALITY, Quality, QualityLike
from windrow.spec.sources.watermarks import Watermark
from windrow.spec.stages.combinations import FIELDS, WINDOW_AND_TRIGGER
from windrow.spec.stages.freshness import Freshness
from windrow.spec.stages.inputs import INPUTS, JOIN, OF_INPUTS, Input, JoinKind, JoinLike, check_inputs
from windrow.spec.stages.keys import KEYS, RESERVED_NAMES, KeysLike
from windrow.spec.stages.refusals import refuse
from windrow.spec.triggers.all import DEFAULT_TRIGGER, TRIGGER, Then, Trigger, TriggerLike, nodes_of
from windrow.spec.triggers.closing import check_loses_nothing
from windrow.spec.windows.all import WINDOW
from windrow.spec.windows.base import WindowFunction


class Accumulation(StrEnum):
    """What becomes of a window's aggregates when it has fired: cleared, kept, or kept and the last pane retracted.

    Under the two modes `by_default` the trigger decides: the innermost node with a `then` on the path that fired.
    """

    DISCARDING = "discarding"
    ACCUMULATING = "accumulating"
    RETRACTING = "retracting"
    CLEAR_BY_DEFAULT = "clear_by_default"
    ACCUMULATE_BY_DEFAULT = "accumulate_by_default"


class Emission(StrEnum):
    """Whether a pane with nothing new is emitted: never, or always at that moment."""

    IF_NONEMPTY = "if_nonempty"
    ALWAYS = "always"


class PaneTime(StrEnum):
    """The event time of a pane: the last instant of its window, or the earliest or latest of its new elements.

    Elements that were behind the stage's output watermark when they were added do not count; without any other it is
    the last instant of the window.
    """

    END_OF_WINDOW = "end_of_window"
    EARLIEST = "earliest"
    LATEST = "latest"


_PATENT_MODES = {"clear_always": Accumulation.DISCARDING, "accumulate_always": Accumulation.ACCUMULATING}
_ACCUMULATION: Kind[Accumulation, Accumulation] = choice(
    Accumulation,
    {"accumulating_and_retracting": "retracting", "update": "accumulating", "append": "discarding"},
)
AccumulationLike = (
    Accumulation
    | Literal["discarding", "accumulating", "retracting", "clear_by_default", "accumulate_by_default"]
    | Literal["clear_always", "accumulate_always"]
)
ACCUMULATION: Kind[Accumulation, AccumulationLike] = Kind(
    lambda value: _ACCUMULATION.accept(_PATENT_MODES.get(value, value) if isinstance(value, str) else value),
    lambda value: _ACCUMULATION.read(_PATENT_MODES.get(value, value) if isinstance(value, str) else value),
    str,
    forms.one_of([*Accumulation, *_PATENT_MODES]),
)
EmissionLike = Emission | Literal["if_nonempty", "always"]
EMISSION: Kind[Emission, EmissionLike] = choice(Emission)
PaneTimeLike = PaneTime | Literal["end_of_window", "earliest", "latest"]
PANE_TIME: Kind[PaneTime, PaneTimeLike] = choice(
    PaneTime, {"end": "end_of_window", "first": "earliest", "last": "latest"}
)


@specification
class ElementTime(Spec):
    """The event time of a stage's elements, where it is not that of the source: a timestamp, by an expression.

    `backward` is how far it may lie before the source's, in microseconds: the stage's watermark is held back by so
    much. An element that lies further back may be late.
    """

    YAML_HINTS = {"expression": "of", "column": "of", "bound": "backward"}

    backward: Converted[int, DurationLike] = converted(DURATION)
    of: Converted[Expression, ExpressionLike] = converted(EXPRESSION)


@specification
class Stage(Spec, InNotebooks):
    """One stage. All lengths are microseconds; `keys`, `select`, `aggregates` and `derive` map names to expressions.

    `explode` names one array: every item of it is an element of its own. `element_time` is another event time.
    `having` is a condition over a pane: one for which it is not true is not shown, and what was shown is retracted.
    `quality` is the file with the expectations on its results, and which columns are masked; `freshness` is how old its
    results may be. With `inputs` its elements come from several sources or stages, and what concerns an element stands
    in each of them; its keys and aggregates are theirs, all together. `join` shows the rows of two inputs, pair by
    pair: its aggregates are then their columns.

    Errors: a reserved or repeated name, a trigger that loses data without `allow_closing`, a global window with the
    default trigger, an option that the accumulation does not go with.
    """

    YAML_HINTS = {"group_by": "keys", "key": "keys", "lateness": "allowed_lateness", "filter": "where",
                  "mode": "accumulation", "windows": "window", "aggregate": "aggregates"}  # fmt: skip

    name: str = plain(NAME, default="stage")
    from_: str | None = plain(NAME, default=None)
    inputs: Converted[Named[Input], Mapping[str, Input]] = converted(INPUTS, default=Named())
    join: Converted[JoinKind | None, JoinLike | None] = converted(JOIN, default=None)
    max_versions_per_tick: int = plain(POSITIVE_INTEGER, default=1)
    select: Converted[Named[Expression], Mapping[str, ExpressionLike]] = converted(EXPRESSIONS, default=Named())
    explode: Converted[Named[Expression], Mapping[str, ExpressionLike]] = converted(EXPRESSIONS, default=Named())
    element_time: ElementTime | None = plain(nested(ElementTime), default=None)
    where: Converted[Expression | None, ExpressionLike | None] = converted(EXPRESSION, default=None)
    keys: Converted[Named[Expression], KeysLike] = converted(KEYS, default=Named())
    window: WindowFunction = plain(WINDOW, kw_only=True)
    trigger: Converted[Trigger, TriggerLike] = converted(TRIGGER, default=DEFAULT_TRIGGER)
    accumulation: Converted[Accumulation, AccumulationLike] = converted(ACCUMULATION, default=Accumulation.ACCUMULATING)
    retract: bool = plain(FLAG, default=False)
    allowed_lateness: Converted[int, DurationLike] = converted(DURATION, default=0)
    on_time: Converted[Emission, EmissionLike] = converted(EMISSION, default=Emission.IF_NONEMPTY)
    closing: Converted[Emission, EmissionLike] = converted(EMISSION, default=Emission.IF_NONEMPTY)
    only_if_changed: bool = plain(FLAG, default=False)
    event_time: Converted[PaneTime, PaneTimeLike] = converted(PANE_TIME, default=PaneTime.END_OF_WINDOW)
    allow_closing: bool = plain(FLAG, default=False)
    aggregates: Converted[Named[Aggregate], Mapping[str, Aggregate]] = converted(AGGREGATES_BY_NAME, kw_only=True)
    derive: Converted[Named[Expression], Mapping[str, ExpressionLike]] = converted(EXPRESSIONS, default=Named())
    having: Converted[Expression | None, ExpressionLike | None] = converted(EXPRESSION, default=None)
    quality: Converted[Quality | None, QualityLike | None] = converted(QUALITY, default=None)
    freshness: Freshness | None = plain(nested(Freshness), default=None)

    @classmethod
    def from_mapping(cls, mapping: Any) -> Stage:
        """The stage of a YAML mapping; with `inputs` its aggregates are theirs."""
        if isinstance(mapping, Mapping) and ("inputs" in mapping or "join" in mapping):
            if not mapping.get("inputs"):
                raise SpecError("inputs", "must be two or more", mapping.get("inputs"), "{left: {..}, right: {..}}")
            for name in OF_INPUTS:
                if name in mapping:
                    raise SpecError(name, "does not go with inputs", None, "in each input, or in a stage behind")
            mapping = {**mapping, "aggregates": {}}
        return super().from_mapping(mapping)

    def to_mapping(self) -> dict[str, Any]:
        """The YAML form: every field that is not at its default, and what its inputs give only there."""
        written = write_fields(self)
        return {name: value for name, value in written.items() if not self.inputs or name not in ("keys", "aggregates")}

    def validate(self) -> None:
        if self.inputs or self.join is not None:
            self._take_inputs()
        self._check_names()
        refuse(FIELDS, self)
        self._settle_retracting()
        self._check_conditions()
        located(f"window.{self.window.NAME}", self.window.check_keys, bool(self.keys))
        refuse(WINDOW_AND_TRIGGER, self)
        if not self.allow_closing:
            check_loses_nothing(self.trigger, self.lateness_of_trigger)

    def _take_inputs(self) -> None:
        """Check the inputs, and take their keys and results as those of the stage."""
        check_inputs(self.inputs, self.join)
        first = next(iter(self.inputs.values()))
        keys = Named([(name, Expression.parse(f"`{name}`")) for name in first.keys])
        results = Named([item for one in self.inputs.values() for item in one.gathered.items()])
        made = {"keys": keys, "aggregates": results}
        for name in OF_INPUTS if self.join is None else (*OF_INPUTS, "derive", "having"):
            value = getattr(self, name if name != "from" else "from_")
            if value and value != made.get(name):
                raise SpecError(name, "does not go with inputs", None, "in each input, or in a stage behind")
        for name, value in made.items():
            object.__setattr__(self, name, value)

    def _check_names(self) -> None:
        taken: dict[str, str] = {}
        for place, names in (("keys", self.keys), ("aggregates", self.aggregates), ("derive", self.derive)):
            for name in names:
                if name.lower() in RESERVED_NAMES:
                    hint = f"a column of every result has this name; for instance {name}_value"
                    raise SpecError(f"{place}.{name}", "is a reserved name", name, hint)
                if name.lower() in taken:
                    raise SpecError(f"{place}.{name}", f"is also the name of one of {taken[name.lower()]}", name)
                taken[name.lower()] = place
        for name, expression in self.derive.items():
            self._check_over_panes(f"derive.{name}", expression, (*self.aggregates, *self.keys))
        if self.having is not None:
            self._check_over_panes("having", self.having, (*self.aggregates, *self.keys, *self.derive))

    def _check_over_panes(self, place: str, expression: Expression, names: Iterable[str]) -> None:
        known = {name.lower() for name in names}
        for column in expression.columns:
            if column.lower() not in known:
                hint = f"the aggregates are {', '.join(self.aggregates)}"
                raise SpecError(place, "reads what is not an aggregate or key", column, hint)

    def _check_conditions(self) -> None:
        results = () if self.join else self.result_columns  # the rows of a pane are none
        known = {name.lower() for name in (*results, *self.keys)}
        for node in nodes_of(self.trigger):
            node.check_expressions()
            for column in [column for condition in node.conditions for column in condition.columns]:
                if column.lower() not in known:
                    hint = f"the results are {', '.join(self.result_columns)}"
                    raise SpecError(f"trigger.{node.NAME}", "reads what is not a result of the stage", column, hint)

    def _settle_retracting(self) -> None:
        """`retract` is short for a mode, but where the trigger decides what is cleared."""
        if self.retract and self.accumulation is not Accumulation.ACCUMULATE_BY_DEFAULT:
            object.__setattr__(self, "accumulation", Accumulation.RETRACTING)
            object.__setattr__(self, "retract", False)

    @property
    def lateness_of_trigger(self) -> int:
        """How long elements may come for a complete window.

        A global window expires when it is complete: +infinity plus any lateness is +infinity.
        """
        return 0 if self.window.IS_GLOBAL else self.allowed_lateness

    @property
    def clears_by_mode(self) -> bool:
        """Whether the aggregates are cleared where no trigger says otherwise."""
        return self.accumulation in (Accumulation.DISCARDING, Accumulation.CLEAR_BY_DEFAULT)

    @property
    def is_discarding(self) -> bool:
        """Whether every firing clears the aggregates."""
        wants_to_keep = any(node.then is Then.ACCUMULATE for node in nodes_of(self.trigger))
        clears = self.accumulation is Accumulation.CLEAR_BY_DEFAULT and not wants_to_keep
        return clears or self.accumulation is Accumulation.DISCARDING

    @property
    def is_mixed(self) -> bool:
        """Whether some firings may clear the aggregates while others keep them."""
        thens = {node.then for node in nodes_of(self.trigger)}
        if self.accumulation is Accumulation.CLEAR_BY_DEFAULT:
            return Then.ACCUMULATE in thens
        return self.accumulation is Accumulation.ACCUMULATE_BY_DEFAULT and Then.CLEAR in thens

    @property
    def is_retracting(self) -> bool:
        """Whether a pane that is replaced is retracted first; one that cleared is never replaced."""
        return self.retract or self.accumulation is Accumulation.RETRACTING

    def watermark_over(self, source: Watermark) -> Watermark:
        """The watermark's rule of a stage over that of its source: held back by what element times may lie before."""
        return source if self.element_time is None else source.held_back(self.element_time.backward)

    @property
    def can_retract(self) -> bool:
        """Whether a tick may take back what it has emitted."""
        return self.is_retracting or self.having is not None

    @property
    def keeps_event_times(self) -> bool:
        """Whether the event time of a pane is that of its elements, so that cells have to keep it."""
        return self.event_time is not PaneTime.END_OF_WINDOW

    @property
    def result_columns(self) -> tuple[str, ...]:
        """The names of the aggregates and derived columns, in order; of a join, of the columns of its rows."""
        return (*self.emitted, *self.derive)

    @property
    def emitted(self) -> tuple[str, ...]:
        """The names of what a pane holds."""
        return (*self.aggregates, *self.row_number)

    @property
    def row_number(self) -> tuple[str, ...]:
        """The column that tells the rows of a pane apart: that of a join, whose panes have several."""
        return () if self.join is None else ("row",)

    @property
    def row_identity(self) -> tuple[str, ...]:
        """The columns that tell the rows of a window in `current` apart; none where it has one row.

        Panes that cleared the aggregates stand there side by side.
        """
        return (*(("pane_index",) if self.is_discarding or self.is_mixed else ()), *self.row_number)
