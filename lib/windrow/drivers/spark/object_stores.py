"""Settings by which Spark reaches object stores: the same variables of the environment that `deltalake` reads.

Spark itself takes the credentials from there (`AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY`, `AWS_SESSION_TOKEN`), or
the SDK finds those of the machine.
"""

from __future__ import annotations

from collections.abc import Mapping

from windrow.store.delta.log.put_if_absent import LOG_STORE

_S3A = "spark.hadoop.fs.s3a."

COMMITS: Mapping[str, str] = {f"spark.delta.logStore.{scheme}.impl": LOG_STORE for scheme in ("s3a", "s3")}
"""Who puts commits on S3."""

AS_S3A: Mapping[str, str] = {
    "spark.hadoop.fs.s3.impl": "org.apache.hadoop.fs.s3a.S3AFileSystem",
    "spark.hadoop.fs.AbstractFileSystem.s3.impl": "org.apache.hadoop.fs.s3a.S3A",
}
"""`s3://` is what `s3a://` is. A cluster may have something else for it."""


def of_s3(environment: Mapping[str, str]) -> dict[str, str]:
    """Those of a session that has the jars of `make setup EXTRA=s3`."""
    found = {**COMMITS, f"{_S3A}create.conditional.enabled": "true"}
    endpoint = environment.get("AWS_ENDPOINT_URL_S3") or environment.get("AWS_ENDPOINT_URL")
    if endpoint:
        is_hosted = environment.get("AWS_VIRTUAL_HOSTED_STYLE_REQUEST", "").lower() == "true"
        found[f"{_S3A}endpoint"] = endpoint
        found[f"{_S3A}path.style.access"] = str(not is_hosted).lower()
        found[f"{_S3A}connection.ssl.enabled"] = str(not endpoint.startswith("http://")).lower()
    region = environment.get("AWS_REGION") or environment.get("AWS_DEFAULT_REGION")
    if region:
        found[f"{_S3A}endpoint.region"] = region
    return found
