"""Settings of the session of a Thrift server, where nobody says otherwise."""

from __future__ import annotations

import os

from windrow.drivers.spark.jvm import session_jars
from windrow.drivers.spark.machine import defaults

CLASS_PATH = "spark.driver.extraClassPath"


def served_settings(host: str, port: int, warehouse: str, class_path: str | None = None) -> dict[str, str]:
    """Where it listens, and a metastore in its memory: the names are made anew when it starts.

    `spark.hadoop.hive.metastore.uris` puts a metastore that others share in its place. `warehouse` is a folder for the
    tables that somebody makes in the session; those of the lake stay where they are. The jars are on the class path of
    the JVM, as the threads that answer connections do not see those of a session, in front of `class_path`, or of that
    of the cluster's defaults. Errors: SpecError where Delta's are not set up.
    """
    theirs = defaults().get(CLASS_PATH) if class_path is None else class_path
    return {
        CLASS_PATH: os.pathsep.join([*session_jars(), *filter(None, [theirs])]),
        "spark.sql.catalogImplementation": "hive",
        "spark.hadoop.javax.jdo.option.ConnectionURL": "jdbc:derby:memory:windrow;create=true",
        "spark.hadoop.datanucleus.schema.autoCreateAll": "true",
        "spark.hadoop.hive.metastore.schema.verification": "false",
        "spark.sql.warehouse.dir": warehouse,
        "spark.hadoop.hive.server2.thrift.bind.host": host,
        "spark.hadoop.hive.server2.thrift.port": str(port),
    }
