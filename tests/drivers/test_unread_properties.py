"""What a session on this machine does not copy for every scan."""

from __future__ import annotations

from pyspark.sql import SparkSession

from windrow.drivers.spark.hadoop import UNREAD, drop_unread_properties


def test_unread_properties_are_gone_and_the_others_stay(spark: SparkSession) -> None:
    configuration = spark.sparkContext._jsc.hadoopConfiguration()  # type: ignore[union-attr]

    def names() -> set[str]:
        return set(configuration.getPropsWithPrefix("").keySet())

    others = {name for name in names() if not name.startswith(UNREAD)}
    configuration.set(f"{UNREAD[0]}of.this.test", "1")
    drop_unread_properties(spark)
    assert names() == others and "fs.defaultFS" in others
