"""How the Spark work of a pipeline's DAG is submitted: `schedule.spark` of a pipeline file."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from windrow.spec.errors import SpecError
from windrow.spec.fields import forms
from windrow.spec.fields.kinds import NAME, TEXT, list_of, mapping_of, simple
from windrow.spec.fields.reading import Kind, Named, Spec, located
from windrow.spec.fields.typed import Converted, converted, plain, specification
from windrow.spec.pipelines.spark_settings import check_setting

_SETTING = re.compile(r"spark\.[A-Za-z0-9_.-]+")
_SECRET = re.compile(r"(?i)secret|password|token|access[.]?key|account[.]key|private[.]key(?![.]id)|azure[.]sas[.]")
"""What Spark itself takes for the name of a secret, the default of `spark.redaction.regex`, and those of Azure's and
Google's stores."""
_MEMORY = re.compile(r"[1-9][0-9]*[kmgt]")
_COORDINATES = re.compile(r"[\w.-]+:[\w.-]+:[\w.-]+")

ELSEWHERE = {
    "spark.master": "the connection says it",
    "spark.submit.deployMode": "the connection says it, in deploy-mode",
    "spark.driver.memory": "here it is called driver_memory",
    "spark.executor.memory": "here it is called executor_memory",
    "spark.jars.packages": "here it is called packages",
    "spark.submit.pyFiles": "here it is called py_files",
    "spark.kubernetes.container.image": "here it is called image",
}
"""Settings that are given in another way, and how."""

_WAITS = frozenset({"spark.yarn.submit.waitAppCompletion", "spark.kubernetes.submission.waitAppCompletion"})
"""Settings that let a submit end before its job: the tasks behind it would begin while that is at work."""


def _setting(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if not isinstance(value, str | int | float):
        raise SpecError("", "must be a text, a number, true or false", value)
    return str(value)


def _settings(value: Any) -> Named[str]:
    if not isinstance(value, Mapping):
        raise SpecError("", "must be a mapping from names of settings", value)
    return Named([(name, located(str(name), _checked(name), text)) for name, text in value.items()])


def _checked(name: Any) -> Callable[[Any], str]:
    def checked(value: Any) -> str:
        if not isinstance(name, str) or not _SETTING.fullmatch(name):
            raise SpecError("", "is not a setting of Spark", None, "its name begins with spark.")
        if name in ELSEWHERE:
            raise SpecError("", "is not given in conf", None, ELSEWHERE[name])
        if _SECRET.search(name):
            raise SpecError("", "is a secret, which a file must not hold", None, "use env, or the connection")
        text = _setting(value)
        if name in _WAITS and text.strip().lower() != "true":
            raise SpecError("", "must be true: a task ends when its job has ended", value, "leave it out")
        check_setting(name, text)
        return text

    return checked


def _like(pattern: re.Pattern[str], rule: str, hint: str) -> Kind[str, str]:
    def read(value: Any) -> str:
        if not isinstance(value, str) or not pattern.fullmatch(value):
            raise SpecError("", rule, value, hint)
        return value

    return simple(read, forms.fixed(type="string", pattern=f"^(?:{pattern.pattern})$"))


CONF: Kind[Named[str], Mapping[str, str | int | float]] = Kind(
    _settings, _settings, dict, forms.values(forms.SCALAR_FORM)
)
MEMORY = _like(_MEMORY, "must be a size of memory", "for instance 512m or 4g")
PACKAGES = list_of(
    _like(_COORDINATES, "must be group:artifact:version", "for instance org.postgresql:postgresql:42.7.4")
)
PY_FILES = list_of(TEXT)
ENVIRONMENT = mapping_of(TEXT)


@specification
class Submission(Spec):
    """How the jobs of a DAG are submitted: Airflow's `connection`, which says the master, and what goes with a job.

    `conf` are settings of Spark; those without which results are wrong are refused. `packages` are coordinates of
    Maven's, `py_files` what Python imports, `image` is that of the containers of Kubernetes. `env` are variables of the
    job's environment: `${NAME}` in their values is that variable where the job is submitted, and is written nowhere.
    """

    YAML_HINTS = {
        "conn_id": "connection", "env_vars": "env", "settings": "conf", "jars": "packages", "container_image": "image",
    }  # fmt: skip

    connection: str = plain(NAME, default="spark_default")
    conf: Converted[Named[str], Mapping[str, str | int | float]] = converted(CONF, default=Named())
    driver_memory: str | None = plain(MEMORY, default=None)
    executor_memory: str | None = plain(MEMORY, default=None)
    packages: Converted[tuple[str, ...], Iterable[str]] = converted(PACKAGES, default=())
    py_files: Converted[tuple[str, ...], Iterable[str]] = converted(PY_FILES, default=())
    image: str | None = plain(TEXT, default=None)
    env: Converted[Named[str], Mapping[str, str]] = converted(ENVIRONMENT, default=Named())
