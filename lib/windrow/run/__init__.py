"""The drivers: land, stream, backfill, reconcile, check. Everything that starts, waits or commits is here.

The package is also the function `windrow.run`, which is what a user calls: `windrow.run(pipeline, spark, once=True)` is
`windrow.run.stream.run`.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any


class _Run(ModuleType):
    """A package that can be called. It imports Spark when it is."""

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        from windrow.run.stream import run

        return run(*arguments, **options)


sys.modules[__name__].__class__ = _Run
