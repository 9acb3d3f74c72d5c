"""Add to `.venv` what lakes on S3 need: S3A of Hadoop with the SDK, and what puts Delta's commits there.

Run by `make setup EXTRA=s3`, from the root of the repository, behind `scripts/setup.py`. The SDK comes in the modules
that S3A uses: as a whole it has over 600 MB.
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from zipfile import ZipFile, ZipInfo

from scripts.setup import IN_SPARK_ALREADY, JARS, ROOT, VENV, Package, digest, fail, jars, run, say, step

S3_JARS = JARS / "s3"
LOG_STORE_JARS = JARS / "log-store"
LOG_STORE_JAR = LOG_STORE_JARS / "windrow-log-store.jar"
SOURCE = ROOT / "scripts" / "log_store" / "windrow" / "ConditionalLogStore.java"

HADOOP, SDK, SPARK = "3.5.0", "2.57.8", "4.2.0"
NOT_S3A = (*IN_SPARK_ALREADY[1:], "org.apache.hadoop:hadoop-common", "software.amazon.awssdk:bundle")
S3: tuple[Package, ...] = ()


def main() -> None:
    jars("s3", S3_JARS, S3)
    step("log store", digest(SOURCE), "compiling what puts Delta's commits on S3", compile_log_store)
    say("ready: lakes on S3")


def compile_log_store() -> None:
    """Compile the one class that windrow has in Java against the jars of Spark and Delta."""
    if shutil.which("javac") is None:
        fail("the log store of S3 is compiled, and there is no javac", "`apt-get install openjdk-17-jdk-headless`")
    spark = next(VENV.glob("lib/python*/site-packages/pyspark/jars"))
    LOG_STORE_JARS.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=VENV, prefix="classes-") as folder:
        run("javac", "--release", "17", "-cp", f"{spark}/*:{JARS}/*", "-d", folder, SOURCE)
        half = LOG_STORE_JAR.with_suffix(".half")
        with ZipFile(half, "w") as jar:
            for file in sorted(Path(folder).rglob("*.class")):
                jar.writestr(ZipInfo(str(file.relative_to(folder))), file.read_bytes())
        half.replace(LOG_STORE_JAR)


if __name__ == "__main__":
    main()
