"""Whom a run tells: of expectations that only warn, and of a deadline that has passed."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from airflow.sdk.definitions.callback import AsyncCallback

from windrow.airflow.options import Tell
from windrow.drivers.inspect.telling.runs import warnings_in
from windrow.spec.errors import SpecError
from windrow.store.delta.location import Lake
from windrow.store.reading.arrow import ArrowTables

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True)
class Warnings:
    """What a task does behind its work: it tells of the expectations of its run that only warn and are broken.

    `run_of` gives the name of a run in the lake. A `tell` that fails is logged: what the task has published stands.
    """

    lake: str
    run_of: Callable[[str], str]
    tell: Tell

    def __call__(self, context: Any, result: Any = None) -> None:
        try:
            found = warnings_in(ArrowTables(), Lake.of(self.lake), self.run_of(context["run_id"]))
        except SpecError as error:
            _LOG.warning("Whether an expectation warns is not known here: %s", error)
            return
        if found:
            told(self.tell, {**context, "warnings": found})


def told(tell: Tell, context: Any) -> None:
    """Tell whoever wants to hear of warnings; what the task has done stands, whatever this raises."""
    try:
        tell(context)
    except Exception:
        _LOG.exception("Nobody was told of the warnings")


async def log_deadline(context: Mapping[str, Any], **_: Any) -> None:
    """Write into the log of the triggerer that a run has not ended when it should have."""
    run = context.get("dag_run") or {}
    _LOG.warning("The run %s of %s has missed its deadline", run.get("dag_run_id"), run.get("dag_id"))


LOGGED = AsyncCallback(log_deadline)
