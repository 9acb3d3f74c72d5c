"""Add to `.venv` what lakes on S3 need: S3A of Hadoop with the SDK, and what puts Delta's commits there.

Run by `make setup EXTRA=s3`, from the root of the repository, behind `scripts/setup.py`. The SDK comes in the modules
that S3A uses: as a whole it has over 600 MB.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path
from zipfile import ZipFile, ZipInfo

from scripts.setup import IN_SPARK_ALREADY, JARS, ROOT, STAMPS, VENV, Package, digest, fail, jars, run, say, step

S3_JARS = JARS / "s3"
LOG_STORE_JARS = JARS / "log-store"
LOG_STORE_JAR = LOG_STORE_JARS / "windrow-log-store.jar"
SOURCES = sorted((ROOT / "scripts" / "log_store").rglob("*.java"))

SDK = "2.57.8"
MODULES = (
    "annotations", "apache-client", "apache5-client", "arns", "auth", "aws-core", "aws-query-protocol",
    "aws-xml-protocol", "checksums", "checksums-spi", "crt-core", "endpoints-spi", "eventstream", "http-auth",
    "http-auth-aws", "http-auth-aws-eventstream", "http-auth-spi", "http-client-spi", "identity-spi",
    "json-utils", "metrics-spi", "netty-nio-client", "profiles", "protocol-core", "regions", "retries",
    "retries-spi", "s3", "s3-transfer-manager", "sdk-core", "sts", "third-party-jackson-core", "utils",
    "utils-lite",
)  # fmt: skip
"""Of the SDK: what S3A uses, with what that needs."""
OTHERS = (
    "analyticsaccelerator-s3-1.3.1.jar", "hadoop-aws-3.5.0.jar", "httpclient5-5.6.4.jar", "httpcore5-5.4.3.jar",
    "httpcore5-h2-5.4.3.jar", "reactive-streams-1.0.4.jar", "wildfly-openssl-2.2.5.Final.jar",
)  # fmt: skip
IN_SPARK_TOO = ("io.netty:*", "org.apache.httpcomponents:*", "software.amazon.awssdk:bundle")
S3A = Package(
    ",".join(
        ["org.apache.hadoop:hadoop-aws:3.5.0"]
        + [f"software.amazon.awssdk:{name}:{SDK}" for name in ("s3", "s3-transfer-manager", "sts", "apache-client")]
    ),
    frozenset({*OTHERS, *(f"{name}-{SDK}.jar" for name in MODULES)}),
    (*(name for name in IN_SPARK_ALREADY if name != "org.apache.hadoop:*"), *IN_SPARK_TOO),
)


def main() -> None:
    jars("s3", S3_JARS, (S3A,))
    if not LOG_STORE_JAR.exists():
        (STAMPS / "log store").unlink(missing_ok=True)
    step("log store", "".join(map(digest, SOURCES)), "compiling what puts commits on S3", compile_log_store)
    say("ready: lakes on S3")


def compile_log_store() -> None:
    """Compile the few classes that windrow has in Java against the jars of Spark, Delta and S3A."""
    home = os.environ.get("JAVA_HOME")
    javac = shutil.which("javac", path=str(Path(home, "bin")) if home else None)
    if javac is None:
        fail("the log store of S3 is compiled, and there is no javac", "`apt-get install openjdk-17-jdk-headless`")
    spark = next(VENV.glob("lib/python*/site-packages/pyspark/jars"))
    LOG_STORE_JARS.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=VENV, prefix="classes-") as folder:
        run(javac, "--release", "17", "-cp", f"{spark}/*:{JARS}/*:{S3_JARS}/*", "-d", folder, *SOURCES)
        half = LOG_STORE_JAR.with_suffix(".half")
        with ZipFile(half, "w") as jar:
            for file in sorted(Path(folder).rglob("*.class")):
                jar.writestr(ZipInfo(str(file.relative_to(folder))), file.read_bytes())
        half.replace(LOG_STORE_JAR)


if __name__ == "__main__":
    main()
