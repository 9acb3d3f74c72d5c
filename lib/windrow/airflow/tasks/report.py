"""The task that writes the page of a run."""

from __future__ import annotations

import shlex
from typing import Any
from uuid import uuid4

from airflow.sdk.exceptions import AirflowSkipException

from windrow.airflow.tasks.steps import Step
from windrow.spec.errors import WRONG_INPUT, NotReadable, SpecError
from windrow.spec.times import parse_time
from windrow.store.delta.location import Lake
from windrow.store.journal.audits import Audits
from windrow.store.journal.outcomes import StepOutcome
from windrow.store.reading.arrow import ArrowTables


class ReportStep(Step):
    """The report of a run. It needs no Spark, and no job, where the lake can be read from here.

    What the task returns is where the page is.
    """

    def execute(self, context: Any) -> Any:
        """Write the page, whatever the steps before have come to. Raises AirflowSkipException where there is nothing.

        So it is where the job has hung, or could not be submitted, or has found nothing to restate.
        """
        run = self.run_of(context["run_id"])
        if self.can_be_read():
            if not Audits.of(Lake.of(self.lake)).read_run(ArrowTables(), run):
                raise AirflowSkipException("the run has left nothing in the lake, so there is no page")
            try:
                self.log.info("%s", self._write(run))
                return self.page
            except NotReadable as error:
                self.log.info("The page needs a job: %s", error)
            except SpecError as error:
                raise self.error_of(StepOutcome(WRONG_INPUT, f"windrow: {error.in_words}")) from None
        outcome = self.submitted(context, uuid4().hex, ends=False)
        if outcome.exit_code:
            raise self.error_of(outcome)
        return self.page

    def _write(self, run: str) -> str:
        """Write the page, and give its path. Errors: SpecError."""
        from windrow.drivers.inspect.reports.pages import write_report

        _, file, project_option, project = (str(word) for word in list(self.application_args or ())[:4])
        typed = shlex.join([file, project_option, project])
        start, end = (None if (text := self.option(name)) is None else parse_time(text) for name in ("--from", "--to"))
        return write_report(self.pipeline, None, run, start, end, self.page, typed, self.option("--link"))
