"""The commit that makes a Delta table without rows, put there as an append is: Delta's own takes a planned command.

Source: "Change Metadata" and "Protocol Evolution" of the Delta protocol.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from uuid import uuid4

from pyspark.sql import SparkSession
from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    BooleanType,
    DataType,
    DateType,
    DecimalType,
    MapType,
    NumericType,
    StringType,
    StructType,
    TimestampType,
)

from windrow.store.delta.file_system import hadoop
from windrow.store.delta.log.commit_files import log_file
from windrow.store.delta.log.log_store import delta_log, put, put_beside

_PROTOCOL = {"minReaderVersion": 1, "minWriterVersion": 2}
_DEFAULTS = "spark.databricks.delta.properties.defaults."
_PLAIN = (NumericType, DecimalType, StringType, BinaryType, BooleanType, DateType, TimestampType)


def can_make(spark: SparkSession, schema: StructType) -> bool:
    """Whether the protocol's first versions have all types, and the session asks for no other properties."""
    return _is_plain(schema) and not any(name.startswith(_DEFAULTS) for name in spark.conf.getAll)


def make(
    spark: SparkSession, path: str, schema: StructType, partition_by: Sequence[str], properties: Mapping[str, str]
) -> None:
    """Make a table at a path. Errors: VersionTaken where somebody else has made it meanwhile."""
    now, commit = time.time_ns() // 1_000_000, str(uuid4())
    metadata = {
        "id": str(uuid4()),
        "format": {"provider": "parquet", "options": {}},
        "schemaString": schema.json(),
        "partitionColumns": [*partition_by],
        "configuration": dict(properties),
        "createdTime": now,
    }
    info = {
        "timestamp": now,
        "operation": "CREATE TABLE",
        "operationParameters": {
            "partitionBy": json.dumps([*partition_by]),
            "clusterBy": "[]",
            "description": None,
            "isManaged": "false",
            "properties": json.dumps(dict(properties)),
        },
        "isolationLevel": "Serializable",
        "isBlindAppend": True,
        "operationMetrics": {},
        "engineInfo": "windrow",
        "txnId": commit,
    }
    sums = {
        "txnId": commit, "tableSizeBytes": 0, "numFiles": 0, "numMetadata": 1, "numProtocol": 1,
        "setTransactions": [], "domainMetadata": [], "metadata": metadata, "protocol": _PROTOCOL,
    }  # fmt: skip
    actions = ({"commitInfo": info}, {"metaData": metadata}, {"protocol": _PROTOCOL})
    files, folder = hadoop(spark, log_file(path, 0).rpartition("/")[0])
    files.mkdirs(folder)
    log = delta_log(spark, path)
    put(spark, log, path, 0, [*map(json.dumps, actions)])
    put_beside(spark, log, path, 0, "crc", [json.dumps(sums)])


def _is_plain(kind: DataType) -> bool:
    if isinstance(kind, StructType):
        return all(_is_plain(field.dataType) for field in kind.fields)
    if isinstance(kind, ArrayType):
        return _is_plain(kind.elementType)
    if isinstance(kind, MapType):
        return _is_plain(kind.keyType) and _is_plain(kind.valueType)
    if isinstance(kind, StringType):
        return kind == StringType()  # no collation, and no length
    return isinstance(kind, _PLAIN)
