"""Settings of Spark: the few that windrow needs as they are, and what a user may say of the others."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from windrow.spec.errors import SpecError

EXTENSIONS = "spark.sql.extensions"
"""A list: what a user gives comes to `DELTA`."""
CATALOG = "spark.sql.catalog.spark_catalog"
DELTA = "io.delta.sql.DeltaSparkSessionExtension"


@dataclass(frozen=True)
class Required:
    """The only value that a setting may have, and what would be wrong with another one."""

    value: str
    why: str


REQUIRED: Mapping[str, Required] = {
    "spark.sql.session.timeZone": Required("UTC", "times without an offset would be other times"),
    "spark.sql.ansi.enabled": Required("false", "one row that cannot be computed would stop a tick"),
    "spark.sql.caseSensitive": Required("false", "columns are found whatever their case"),
    "spark.sql.variable.substitute": Required("false", "a text could read values of the environment"),
    "spark.sql.legacy.timeParserPolicy": Required("CORRECTED", "times would be read by the rules of an older Spark"),
    "spark.sql.timestampType": Required("TIMESTAMP_LTZ", "times would be without a zone"),
    "spark.sql.parser.escapedStringLiterals": Required("false", "texts with a quote or a backslash would be others"),
    "spark.sql.files.ignoreCorruptFiles": Required("false", "rows would be missing, and no dead letter would tell"),
    "spark.sql.files.ignoreMissingFiles": Required("false", "rows would be missing, and no dead letter would tell"),
    "spark.sql.decimalOperations.allowPrecisionLoss": Required("true", "sums of decimals would have other types"),
    "spark.sql.parquet.outputTimestampType": Required("TIMESTAMP_MICROS", "other readers would see other times"),
    "spark.sql.streaming.stopActiveRunOnRestart": Required("false", "a landing would stop one that has begun"),
    "spark.sql.sources.partitionOverwriteMode": Required("static", "a table that is replaced would keep other rows"),
    "spark.databricks.delta.schema.autoMerge.enabled": Required("false", "tables would get other columns"),
    CATALOG: Required("org.apache.spark.sql.delta.catalog.DeltaCatalog", "tables are Delta tables"),
}
"""Without these results are wrong. Every session in which windrow works has them, whatever the cluster's are."""


def check_setting(name: str, value: str) -> None:
    """Raises SpecError where the setting would make results wrong."""
    required = REQUIRED.get(name)
    if required is not None and value.strip().lower() != required.value.lower():
        raise SpecError("", f"must be {required.value}: {required.why}", value, "leave it out")


def check_settings(settings: Mapping[str, str]) -> None:
    """Raises SpecError, with the name of the setting as its place."""
    for name, value in settings.items():
        try:
            check_setting(name, value)
        except SpecError as error:
            raise error.within(name) from error


def with_delta(extensions: str | None) -> str:
    """The extensions of a session: those that are given, and Delta's."""
    given = [name.strip() for name in (extensions or "").split(",") if name.strip()]
    return ",".join(given if DELTA in given else [*given, DELTA])
