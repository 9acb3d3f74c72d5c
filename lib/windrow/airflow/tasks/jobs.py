"""A Spark job of a task: how it is submitted, and how it is ended."""

from __future__ import annotations

import os
import signal
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from airflow.providers.apache.spark.hooks.spark_submit import SparkSubmitHook
from airflow.sdk.exceptions import AirflowFailException
from airflow.sdk.log import mask_secret

from windrow.drivers.spark.jvm import launch_environment, session_jars
from windrow.drivers.spark.machine import defaults
from windrow.spec.errors import SpecError
from windrow.spec.pipelines.spark_settings import EXTENSIONS, with_delta
from windrow.spec.pipelines.submissions import Submission
from windrow.spec.sources.source import resolve_environment

_IMAGE = "spark.kubernetes.container.image"
_JARS = "spark.jars"
_DELTA = "delta-spark"


class Job(SparkSubmitHook):
    """A job for `spark-submit`, which is a process group of its own and is ended as a whole.

    What the pipeline file says of it comes before what the cluster has, and this before what windrow would like.
    """

    @classmethod
    def of(
        cls, submission: Submission, name: str, arguments: Sequence[str], conf: Mapping[str, str] | None = None
    ) -> Job:
        """A job as `schedule.spark` says, and `conf` where that says nothing.

        Raises AirflowFailException where a variable of `env` is not there.
        """
        return cls(
            conn_id=submission.connection,
            name=name,
            application_args=list(arguments),
            conf={**(conf or {}), **_conf_of(submission)},
            driver_memory=submission.driver_memory,
            executor_memory=submission.executor_memory,
            packages=",".join(submission.packages) or None,
            py_files=",".join(submission.py_files) or None,
            jars=_jars_here(submission),
            env_vars=_environment_of(submission) or None,
        )

    def submit(self, application: str = "", **kwargs: Any) -> str | None:
        """Submit it, and wait for its end. Raises AirflowFailException where the cluster cannot run Python so.

        Raises AirflowNotFoundException where there is no such connection: the provider would take YARN then.
        """
        self.get_connection(self._conn_id)
        self._check_mode()
        return super().submit(application, start_new_session=True, **kwargs)

    def on_kill(self) -> None:
        """End it, with all processes that it has started here."""
        super().on_kill()
        if self._submit_sp is not None:
            with suppress(ProcessLookupError):
                os.killpg(self._submit_sp.pid, signal.SIGKILL)

    def _build_spark_submit_command(self, application: str) -> list[str]:
        command: list[str] = super()._build_spark_submit_command(application)
        is_quiet = not self._is_yarn and not self._is_kubernetes  # the provider reads of both what they log
        self._env = {**launch_environment(is_quiet), **(self._env or {})}
        return command

    def _check_mode(self) -> None:
        master, mode = str(self._connection["master"]), self._connection["deploy_mode"]
        if mode == "cluster" and master.startswith(("spark://", "local")):
            kind = "a standalone cluster" if master.startswith("spark://") else "a local master"
            raise AirflowFailException(
                f"connection {self._conn_id}: deploy-mode must not be cluster: Spark runs no Python in it on {kind}; "
                f"got {master}. Hint: deploy-mode client, which runs the driver where the task runs"
            )


def _conf_of(submission: Submission) -> dict[str, str]:
    conf = dict(submission.conf)
    if EXTENSIONS in conf:
        conf[EXTENSIONS] = with_delta(conf[EXTENSIONS])
    return conf if submission.image is None else {**conf, _IMAGE: submission.image}


def _environment_of(submission: Submission) -> dict[str, str]:
    """The variables of `env`, whose values no log shows from then on."""
    try:
        variables = {name: resolve_environment(text) for name, text in submission.env.items()}
    except SpecError as error:
        raise AirflowFailException(f"schedule.spark.env: {error}") from None
    for value in variables.values():
        mask_secret(value)
    return variables


def _jars_here(submission: Submission) -> str | None:
    """Delta's jars as windrow's set-up leaves them on this machine, beside those that Spark's defaults here name.

    None where the file or the defaults bring Delta; where it is not set up the connection has to.
    """
    known = defaults()
    given = [*submission.packages, known.get(_JARS, ""), known.get("spark.jars.packages", "")]
    if _JARS in submission.conf or any(_DELTA in one for one in given):
        return None
    try:
        jars = session_jars()
    except SpecError:
        return None
    return ",".join([known[_JARS], *jars] if known.get(_JARS) else jars)
