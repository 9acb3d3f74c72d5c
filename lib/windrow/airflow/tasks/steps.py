"""The tasks of a DAG: a step of a backfill each. One Spark job makes all steps that are left, up to publish.

What became of a step is read from the audits in the lake, where each attempt has a name of its own. The task whose step
comes first submits the job. Those behind it find that their step has been made, and only tell how it has ended. A step
that has recorded nothing has failed and is tried again, as is one that is cleared: by a job of its own from there on. A
gate that stopped is not tried again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

from airflow.providers.apache.spark.operators.spark_submit import SparkSubmitOperator
from airflow.sdk import BaseOperator
from airflow.sdk.exceptions import AirflowException, AirflowFailException

from windrow.airflow.tasks.jobs import Job
from windrow.airflow.tasks.trigger import LANDED, STALE, WindowsExpired
from windrow.airflow.telling.freshness import FreshnessWatch
from windrow.drivers.inspect.waiting.arrivals import Arrivals
from windrow.drivers.inspect.waiting.foreseen import foreseen
from windrow.drivers.inspect.waiting.windows import wait_for
from windrow.spec.errors import GATE_STOPPED, WINDOWS_WAIT, WRONG_INPUT, SpecError, WindowsWait
from windrow.spec.pipelines.pipeline import Pipeline
from windrow.spec.pipelines.schedules import OnTimeout, Schedule
from windrow.spec.times import parse_time
from windrow.store.delta.location import Lake
from windrow.store.journal.outcomes import StepOutcome, outcome_of
from windrow.store.reading.arrow import ArrowTables

JOB_STEPS = ("land", "gate_rows", "compute", "gate_results", "publish")
"""The steps that one job can make, in their order."""
REPORT = "report"
"""The step that writes the page of a run."""
STEPS = (*JOB_STEPS, REPORT)
FINAL = (WRONG_INPUT, GATE_STOPPED)
"""Exit codes of a step after which trying again would give the same."""
WAITS_FOR = "waits_for"
"""The XCom of a task that says which windows it waits for."""
ATTEMPT = "attempt"
"""The XCom of a task, and what Airflow keeps for it over all of its tries: the job by which it has ended last."""


class Step(SparkSubmitOperator):
    """One step of a backfill; `schedule` says how long it waits for windows that have not expired.

    The lake of the `pipeline` is where steps record how each attempt has ended, `run_of` gives the name of a run there.
    While it waits, `watch` tells of results that grow stale.
    """

    def __init__(
        self,
        *,
        pipeline: Pipeline,
        run_of: Callable[[str], str],
        schedule: Schedule,
        watch: FreshnessWatch,
        **options: Any,
    ) -> None:
        super().__init__(conn_id=schedule.spark.connection, durable=False, **options)
        self.pipeline = pipeline
        self.lake = pipeline.lake
        self.run_of = run_of
        self.watch = watch
        self.deadline = None if schedule.deadline is None else timedelta(microseconds=schedule.deadline)
        self.sources = [Arrivals.of(source) for source in pipeline.sources]
        self.submission = schedule.spark
        self.wait = timedelta(microseconds=schedule.wait)
        self.poke_interval = timedelta(microseconds=schedule.poke_interval)
        self.on_timeout = schedule.on_timeout

    def execute(self, context: Any) -> Any:
        """Tell how the step has ended, where a job has made it, or submit one.

        A gate that stopped fails the task for good, a machine that failed lets it be tried again. Windows that have not
        expired leave it to the triggerer until there is something to do: without a job where that can be seen from
        here, as nothing has come since the last one. A task that is tried again, or cleared, has a job in any case.
        """
        seen, is_first = self._seen(), self.task_id == STEPS[0] and context["ti"].try_number == 1
        if is_first and datetime.now(UTC) < self._waits_until(context):
            waits = self._foreseen(seen)
            if waits is not None:
                self._wait_for(context, f"windrow: {waits.in_words}", waits.until, seen)
        return self._made(context, seen)

    def _made(self, context: Any, seen: list[Arrivals]) -> Any:
        """The same, by a job where none has made it."""
        has_waited = datetime.now(UTC) >= self._waits_until(context)
        ends = has_waited and self.on_timeout is not OnTimeout.FAIL
        attempt = self._attempt_before(context)
        outcome = None if attempt is None else self._outcome(self.run_of(context["run_id"]), attempt)
        if outcome is None or (outcome.exit_code == WINDOWS_WAIT and ends):
            attempt = uuid4().hex
            outcome = self.submitted(context, attempt, ends)
        else:
            self.log.info("The step was made by the job of a task before, attempt %s", attempt)
        context["ti"].xcom_push(key=ATTEMPT, value=attempt)
        context["task_state_store"].set(ATTEMPT, attempt)
        if outcome.exit_code == WINDOWS_WAIT and not has_waited:
            self._wait_for(context, outcome.message, outcome.until, seen)
        if outcome.exit_code:
            raise self.error_of(outcome)

    def resume(
        self,
        context: Any,
        event: Any,
        until: Mapping[str, int] | None = None,
        sources: Sequence[Mapping[str, Any]] = (),
    ) -> Any:
        """Make the step again, as the trigger says that there is something to do: `event` says what.

        If that is only to tell of stale results, the task tells and waits on: `until` and `sources` are the trigger's.
        """
        if isinstance(event, Mapping) and STALE in event:
            self._wait(context, until or {}, sources, event[LANDED])
        self.log.info("The run goes on: %s", event)
        return self._made(context, self._seen())

    def _foreseen(self, seen: Sequence[Arrivals]) -> WindowsWait | None:
        """What a job would wait for, where that can be seen from here."""
        try:
            span = parse_time(self.option("--from")), parse_time(self.option("--to"))
            found = foreseen(ArrowTables(), self.pipeline, span, seen)
        except Exception as error:  # whatever it is, the job meets it too, and says so
            self.log.info("What the run waits for is not known before its job: %s", error)
            return None
        return wait_for(found) if found else None

    def _attempt_before(self, context: Any) -> str | None:
        """The attempt of the task before, whose job goes on with this step; None where this task has told its outcome.

        A task that is tried again, or cleared by itself, has told it, and makes the step anew.
        """
        if self.task_id not in JOB_STEPS[1:]:
            return None
        before = STEPS[STEPS.index(self.task_id) - 1]
        attempt: str | None = context["ti"].xcom_pull(task_ids=before, key=ATTEMPT)
        return None if attempt == context["task_state_store"].get(ATTEMPT) else attempt

    def submitted(self, context: Any, attempt: str, ends: bool) -> StepOutcome:
        """Submit a job for the steps from this one on; how this one has ended. Raises what the submit has raised.

        Where the lake cannot be read from here, the job is for this step only: those behind it could not be told of.
        """
        words = ["--attempt", attempt]
        if self.task_id in JOB_STEPS and self.can_be_read():
            words += ["--through", JOB_STEPS[-1]]
        if self.task_id == STEPS[0] or (self.task_id in ("compute", "publish") and ends):
            words.append(f"--{self.on_timeout.value if ends else 'wait'}")
        self.application_args = [*(self.application_args or ()), *words]
        try:
            super().execute(context)
        except Exception:
            outcome = self._outcome(self.run_of(context["run_id"]), attempt)
            if outcome is None:
                raise
            return outcome
        return StepOutcome(0)

    def _get_hook(self) -> Job:
        """The job, with what the operator adds for OpenLineage. Raises AirflowFailException."""
        return Job.of(self.submission, self.name, self.application_args or (), self.conf)

    def _wait_for(self, context: Any, message: str, until: Mapping[str, int], seen: Sequence[Arrivals]) -> None:
        """Say on the page of the task what it waits for, and leave it to the triggerer. Raises TaskDeferred."""
        self.log.info("Windows have not expired. Looking again in %s; %s", self.poke_interval, message)
        context["ti"].xcom_push(key=WAITS_FOR, value=message)
        self._wait(context, until, [asdict(source) for source in seen])

    def _wait(
        self,
        context: Any,
        until: Mapping[str, int],
        sources: Sequence[Mapping[str, Any]],
        landed: Mapping[str, int] | None = None,
    ) -> None:
        """Tell of results that have become staler, and leave the task to the triggerer. Raises TaskDeferred."""
        told = self.watch.tell_of(context) if self.watch.allowed else {}
        due = None if self.deadline is None else context["dag_run"].start_date + self.deadline
        trigger = WindowsExpired(
            lake=self.lake,
            until=until,
            sources=sources,
            deadline=self._waits_until(context).isoformat(),
            on_timeout=self.on_timeout.value,
            poke_interval=self.poke_interval.total_seconds(),
            allowed={stage: one.to_mapping() for stage, one in self.watch.allowed.items()},
            told=told,
            landed=landed,
            due=None if due is None else due.isoformat(),
        )
        kwargs = {"until": dict(until), "sources": [dict(source) for source in sources]}
        self.defer(trigger=trigger, method_name=self.resume.__name__, kwargs=kwargs)

    def _waits_until(self, context: Any) -> datetime:
        """When the run has waited long enough."""
        until: datetime = context["dag_run"].start_date + self.wait
        return until

    def _seen(self) -> list[Arrivals]:
        """What stands in front of the first step, which reads all of it. Others may have landed more than they read."""
        return [source.looked_at() if self.task_id == STEPS[0] else source for source in self.sources]

    def _outcome(self, run: str, attempt: str) -> StepOutcome | None:
        """What the step has recorded in an attempt; None where there is nothing that can be read."""
        try:
            return outcome_of(Lake.of(self.lake), run, attempt, self.task_id)
        except SpecError as error:
            self.log.warning("What became of the step is not known: %s", error)
            return None

    def can_be_read(self) -> bool:
        """Whether the audits of the lake can be read here, without Spark."""
        try:
            outcome_of(Lake.of(self.lake), "", "", "")
        except SpecError as error:
            self.log.info("Each step is a job of its own: %s", error)
            return False
        return True

    def error_of(self, outcome: StepOutcome) -> Exception:
        """What to tell Airflow of a step that has failed, with the page in the first line."""
        waited = f"windows have not expired in {self.wait}: " if outcome.exit_code == WINDOWS_WAIT else ""
        first, *more = outcome.message.split("\n")
        if self.page and self.page not in first:
            first = f"{first}. The page of the run: {self.page}"
        words = "\n".join([f"{self.task_id}: {waited}{first}", *more])
        is_final = outcome.exit_code in (*FINAL, WINDOWS_WAIT)
        return AirflowFailException(words) if is_final else AirflowException(words)

    @property
    def page(self) -> str | None:
        """Where the report of the run is written, if it has one."""
        return self.option("--output")

    def option(self, name: str) -> str | None:
        """What the job is given behind a word; None where that is not among its arguments."""
        words = [str(word) for word in self.application_args or ()]
        return words[words.index(name) + 1] if name in words else None


class TellStep(BaseOperator):
    """A task that does nothing itself: what has changed is told behind it."""

    def execute(self, context: Any) -> Any:
        self.log.info("What has changed is told behind this task")


class WrongFile(BaseOperator):
    """A task of a pipeline file that is wrong: it fails with the error, and is not tried again."""

    def __init__(self, *, error: str, **options: Any) -> None:
        super().__init__(**options)
        self.error = error

    def execute(self, context: Any) -> Any:
        """Raises AirflowFailException, with what is wrong."""
        raise AirflowFailException(self.error)
