"""Expressions as people write them."""

from __future__ import annotations

from windrow.spec.expressions import Expression


def plain(expression: Expression) -> str:
    """An expression without the quotes around names."""
    return expression.text.replace("`", "")
