"""Add to `.venv` what lakes on S3 need: S3A of Hadoop with the SDK, and what puts Delta's commits there.

Run by `make setup EXTRA=s3`, from the root of the repository, behind `scripts/setup.py`. The SDK comes in the modules
that S3A uses: as a whole it has over 600 MB.
"""

from __future__ import annotations

from scripts.setup import IN_SPARK_ALREADY, JARS, Package, compiled, jars, say

S3_JARS = JARS / "s3"
S3_LOG_STORE_JAR = JARS / "log-store" / "windrow-log-store.jar"

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
    compiled("s3", S3_LOG_STORE_JAR, "compiling what puts commits on S3", S3_JARS)
    say("ready: lakes on S3")


if __name__ == "__main__":
    main()
