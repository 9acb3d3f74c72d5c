"""What a DAG file says of all of its DAGs: whom to tell, and the pool of their tasks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from airflow.sdk import BaseNotifier
from airflow.sdk.definitions.callback import Callback

Tell = Callable[[Any], Any] | BaseNotifier
"""What Airflow calls with the context of a task or a run: a function, or a notifier."""


@dataclass(frozen=True)
class DagOptions:
    """Options of all DAGs of a DAG file.

    `pool` is a pool for all tasks, in place of one for each lake. `on_failure` is called, once a run, when a run fails.
    `on_warning` is called when an expectation that only warns is broken, and when results are not fresh, with the
    context of the task and in it `warnings`, a list of texts. `on_deadline` is Airflow's `AsyncCallback` or
    `SyncCallback` for a run that is not over when its deadline comes (`schedule.deadline`); without it, the triggerer
    writes a warning into its log.
    """

    pool: str | None = None
    on_failure: Tell | Sequence[Tell] | None = None
    on_warning: Tell | None = None
    on_deadline: Callback | None = None
