"""What results are grouped by, and the names that no key or result may have."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from windrow.spec.errors import SpecError
from windrow.spec.expressions import Expression
from windrow.spec.fields import forms
from windrow.spec.fields.kinds import EXPRESSION, NAME
from windrow.spec.fields.reading import Kind, Named, located
from windrow.spec.fields.typed import ExpressionLike


class LogColumn:
    """The columns of a stage's journal that hold no pane."""

    KIND = "_kind"
    """What the row is; a partition."""
    BUCKET = "_bucket"
    """A coarse part of window time; a partition."""
    STATE = "_state"
    """The cell after the tick."""
    NOT_LAST = "_not_last"
    """A later row of the tick says what became of the cell. This one and those below are true, or null."""
    OPENED = "_opened"
    """The cell began with the tick."""
    ENDED = "_ended"
    """It ended with the tick."""
    OUTGROWN = "_outgrown"
    """It began longer than the stage says that its sessions are."""
    CHANGED = "_changed"
    """The pane changes what was shown."""
    RETRACTION = "_retraction"
    """It is a retraction."""
    CLOSED = "_closed"
    """The dead letter was closed out."""
    DEAD_LETTER = "_dead_letter"
    CONTROL = "_control"
    """The control row as JSON."""


RESERVED_NAMES = frozenset(
    {"window_start", "window_end", "timing", "pane_index", "on_time_index", "is_first", "is_last", "event_time",
     "watermark", "watermark_percentile", "produced_at", "tick", "row", "change", "weight", "trigger",
     *(name for key, name in vars(LogColumn).items() if key.isupper())}
)  # fmt: skip
"""The columns of `current`, `panes` and the journal that every stage has. No key or aggregate may take one, whatever
its case."""


def _read_keys(value: Any) -> Named[Expression]:
    if isinstance(value, str) or not isinstance(value, Iterable):
        raise SpecError("", "must be a list of columns, or of {name: EXPRESSION}", value)
    items = value.items() if isinstance(value, Mapping) else [_read_key(index, key) for index, key in enumerate(value)]
    keys = [(name, EXPRESSION.accept(expression)) for name, expression in items]
    if len({name.lower() for name, _ in keys}) < len(keys):
        raise SpecError("", "has a key twice", [name for name, _ in keys])
    return Named(keys)


def _read_key(index: int, value: Any) -> tuple[str, Expression]:
    if isinstance(value, str):
        name = located(f"[{index}]", NAME.read, value)
        return name, Expression.parse(f"`{name}`")
    if isinstance(value, Mapping) and len(value) == 1:
        ((name, expression),) = value.items()
        return located(f"[{index}]", NAME.read, name), located(f"[{index}].{name}", EXPRESSION.read, expression)
    raise SpecError(f"[{index}]", "must be a column or {name: EXPRESSION}", value)


def _write_keys(keys: Named[Expression]) -> list[Any]:
    plain = {name: Expression.parse(f"`{name}`") for name in keys}
    return [name if keys[name] == plain[name] else {name: keys[name].text} for name in keys]


KeysLike = Iterable[str | Mapping[str, ExpressionLike]] | Mapping[str, ExpressionLike]
"""A list of columns, each a name or `{name: EXPRESSION}`, or a mapping from names to expressions."""
KEYS: Kind[Named[Expression], KeysLike] = Kind(
    _read_keys,
    _read_keys,
    _write_keys,
    forms.any_of(
        forms.items(forms.any_of(forms.NAME_FORM, forms.values(forms.EXPRESSION_FORM))),
        forms.values(forms.EXPRESSION_FORM),
    ),
)
