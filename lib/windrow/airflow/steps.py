"""The tasks of a DAG: a step of a backfill each, whose work is a Spark job.

What became of a job is read from the audits in the lake, where each attempt at a step has a name of its own. A job that
has recorded nothing there has failed, and is tried again; a gate that stopped is not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

from airflow.providers.apache.spark.operators.spark_submit import SparkSubmitOperator
from airflow.sdk import BaseOperator
from airflow.sdk.exceptions import AirflowFailException

from windrow.airflow.trigger import WindowsExpired
from windrow.drivers.inspect.arrivals import Arrivals
from windrow.drivers.spark.jvm import class_archive, session_jars
from windrow.spec.errors import GATE_STOPPED, WINDOWS_WAIT, WRONG_INPUT, SpecError
from windrow.spec.pipelines.schedules import OnTimeout, Schedule
from windrow.store.delta.location import Lake
from windrow.store.journal.outcomes import StepOutcome, outcome_of

STEPS = ("land", "gate_rows", "compute", "gate_results", "publish", "report")
FINAL = (WRONG_INPUT, GATE_STOPPED)
"""Exit codes of a step after which trying again would give the same."""
WAITS_FOR = "waits_for"
"""The XCom of a task that says which windows it waits for."""
QUIET = {"spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false"}


class Step(SparkSubmitOperator):
    """One step of a backfill as a Spark job; `schedule` says how long it waits for windows that have not expired.

    `lake` is where the step records how each attempt has ended; `sources` are what those of the pipeline read.
    """

    def __init__(self, *, lake: str, sources: Sequence[Arrivals], schedule: Schedule, **options: Any) -> None:
        super().__init__(**options)
        self.lake = lake
        self.sources = list(sources)
        self.wait = timedelta(microseconds=schedule.wait)
        self.poke_interval = timedelta(microseconds=schedule.poke_interval)
        self.on_timeout = schedule.on_timeout

    def execute(self, context: Any) -> Any:
        """Submit the job. A gate that stopped fails the task for good, a machine that failed lets it be tried again.

        Windows that have not expired leave it to the triggerer until there is something to do.
        """
        deadline = context["dag_run"].start_date + self.wait
        has_waited = datetime.now(UTC) >= deadline
        ends = has_waited and self.on_timeout is not OnTimeout.FAIL
        attempt = uuid4().hex
        self.application_args = [*(self.application_args or ()), "--attempt", attempt]
        if self.task_id == STEPS[0] or (self.task_id in ("compute", "publish") and ends):
            self.application_args.append(f"--{self.on_timeout.value if ends else 'wait'}")
        seen = self._seen()
        self.jars, self.conf = _jars_here(), {**QUIET, "spark.driver.extraJavaOptions": class_archive()}
        try:
            return super().execute(context)
        except Exception as error:
            outcome = self._outcome(context["run_id"], attempt)
            if outcome is not None and outcome.exit_code == WINDOWS_WAIT and not has_waited:
                self._wait(context, outcome, deadline, seen)
            told = self._told(outcome)
            if told is None:
                raise
            raise told from error

    def resume(self, context: Any, event: Any) -> Any:
        """Make the step again, as the trigger says that there is something to do: `event` says what."""
        self.log.info("The run goes on: %s", event)
        return self.execute(context)

    def _wait(self, context: Any, outcome: StepOutcome, deadline: datetime, seen: Sequence[Arrivals]) -> None:
        """Leave the task to the triggerer, with what it waits for on its page. Raises TaskDeferred."""
        self.log.info("Windows have not expired. Looking again in %s; %s", self.poke_interval, outcome.message)
        context["ti"].xcom_push(key=WAITS_FOR, value=outcome.message)
        trigger = WindowsExpired(
            lake=self.lake,
            until=outcome.until,
            sources=[asdict(source) for source in seen],
            deadline=deadline.isoformat(),
            on_timeout=self.on_timeout.value,
            poke_interval=self.poke_interval.total_seconds(),
        )
        self.defer(trigger=trigger, method_name=self.resume.__name__)

    def _seen(self) -> list[Arrivals]:
        """What stands in front of the first step, which reads all of it. Others may have landed more than they read."""
        return [source.looked_at() if self.task_id == STEPS[0] else source for source in self.sources]

    def _outcome(self, run: str, attempt: str) -> StepOutcome | None:
        """What the step has recorded of an attempt that failed; None where there is nothing that can be read."""
        try:
            return outcome_of(Lake.of(self.lake), run, attempt)
        except SpecError as error:
            self.log.warning("What became of the step is not known: %s", error)
            return None

    def _told(self, outcome: StepOutcome | None) -> Exception | None:
        """What to tell Airflow of an attempt that failed; None where it is to be tried again."""
        match outcome:
            case StepOutcome(exit_code, message) if exit_code in FINAL:
                return AirflowFailException(f"{self.task_id}: {message}")
            case StepOutcome(exit_code, message) if exit_code == WINDOWS_WAIT:
                return AirflowFailException(f"{self.task_id}: windows have not expired in {self.wait}: {message}")
        return None


class WrongFile(BaseOperator):
    """A task of a pipeline file that is wrong: it fails with the error, and is not tried again."""

    def __init__(self, *, error: str, **options: Any) -> None:
        super().__init__(**options)
        self.error = error

    def execute(self, context: Any) -> Any:
        """Raises AirflowFailException, with what is wrong."""
        raise AirflowFailException(self.error)


def _jars_here() -> str | None:
    """Delta's jars as windrow's set-up leaves them on this machine; without them the connection has to bring them."""
    try:
        return ",".join(session_jars())
    except SpecError:
        return None
