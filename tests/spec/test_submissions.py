"""How jobs are submitted, as a pipeline file says: what is taken, and what is refused with which words."""

from __future__ import annotations

from typing import Any

import pytest

from windrow.spec.errors import SpecError
from windrow.spec.pipelines.loading import starting_from
from windrow.spec.pipelines.pipeline import Pipeline
from windrow.spec.pipelines.spark_settings import DELTA, with_delta
from windrow.spec.pipelines.submissions import Submission

SCHEDULE = {"cron": "0 3 * * *", "start": "2013-01-01"}


def pipeline(**schedule: Any) -> Pipeline:
    source = {
        "name": "clicks", "files": {"path": "data"}, "schema": "k string, at string",
        "event_time": {"column": "at", "format": "iso8601"}, "watermark": {"bounded_delay": "1m"},
    }  # fmt: skip
    stage = {"name": "counts", "keys": ["k"], "window": {"fixed": {"size": "1h"}}, "aggregates": {"n": {"count": "*"}}}
    made = {"pipeline": "p", "lake": "lake", "sources": [source], "stages": [stage]}
    return Pipeline.from_mapping({**made, "schedule": {**SCHEDULE, **schedule}})


def test_what_a_file_may_say() -> None:
    written = {
        "connection": "spark_cluster", "conf": {"spark.sql.shuffle.partitions": "64", "spark.ui.enabled": "true"},
        "driver_memory": "8g", "packages": ["a.b:c_2.13:1.0"], "py_files": ["lib/one.zip"], "env": {"KEY": "${SECRET}"},
    }  # fmt: skip
    conf = {"spark.sql.shuffle.partitions": 64, "spark.ui.enabled": True}
    made = pipeline(spark={**written, "conf": conf})
    assert made.to_mapping()["schedule"]["spark"] == written
    there = starting_from(made, "/srv")
    assert there.schedule is not None and there.schedule.spark.py_files == ("/srv/lib/one.zip",)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (
            {"conf": {"spark.sql.ansi.enabled": True}},
            "schedule.spark.conf.spark.sql.ansi.enabled must be false: one row that cannot be computed would stop "
            "a tick; got True. Hint: leave it out",
        ),
        (
            {"conf": {"spark.sql.session.timeZone": "Europe/Berlin"}},
            'must be UTC: times without an offset .* got "Europe',
        ),
        ({"conf": {"spark.driver.memory": "2g"}}, "is not given in conf. Hint: here it is called driver_memory"),
        ({"conf": {"spark.master": "local"}}, "is not given in conf. Hint: the connection says it"),
        ({"conf": {"shuffle.partitions": 1}}, "conf.shuffle.partitions is not a setting of Spark"),
        ({"conf": {"spark.hadoop.fs.s3a.secret.key": "x"}}, "is a secret, which a file must not hold. Hint: use env"),
        ({"conf": {"spark.hadoop.fs.azure.account.key.a.dfs.core.windows.net": "x"}}, "a file must not hold"),
        ({"conf": {"spark.hadoop.fs.azure.sas.c.a.blob.core.windows.net": "x"}}, "a file must not hold"),
        ({"conf": {"spark.hadoop.fs.gs.auth.service.account.private.key": "x"}}, "a file must not hold"),
        ({"conf": {"spark.yarn.submit.waitAppCompletion": False}}, "must be true: a task ends when its job has ended"),
        ({"conf": {"spark.x": [1]}}, "conf.spark.x must be a text, a number, true or false"),
        ({"conf": ["spark.x=1"]}, "conf must be a mapping from names of settings"),
        ({"driver_memory": "8 GB"}, "driver_memory must be a size of memory; .* Hint: for instance 512m or 4g"),
        ({"packages": ["c:1.0"]}, r"packages\[0\] must be group:artifact:version"),
        ({"env": {"A-B": "x"}}, "env.A-B must be a name"),
        ({"env_vars": {}}, "env_vars is not a field. Hint: here it is called env"),
    ],
)
def test_what_is_refused(given: dict[str, Any], said: str) -> None:
    with pytest.raises(SpecError, match=said) as raised:
        pipeline(spark=given)
    assert str(raised.value).startswith("schedule.spark.")


def test_a_setting_with_the_value_that_it_needs_is_no_fault() -> None:
    assert dict(Submission(conf={"spark.sql.ansi.enabled": "False"}).conf) == {"spark.sql.ansi.enabled": "False"}


def test_where_a_secret_is_may_be_said() -> None:
    conf = {"spark.hadoop.fs.s3a.aws.credentials.provider": "a.b.C", "spark.hadoop.fs.azure.account.auth.type": "OAuth"}
    assert dict(Submission(conf=conf).conf) == conf


def test_the_connection_has_its_place() -> None:
    with pytest.raises(
        SpecError, match=r"schedule.connection is not a field. Hint: here it is called spark.connection"
    ):
        pipeline(connection="spark_local")


def test_the_extensions_of_a_session_have_that_of_delta_once() -> None:
    assert with_delta(None) == DELTA
    assert with_delta(f"a.B,{DELTA}") == f"a.B,{DELTA}"
    assert with_delta(" a.B , ") == f"a.B,{DELTA}"
