"""The options that a JVM of windrow's own is started with."""

import pytest

from windrow.drivers.spark.jvm import collector


def test_the_environment_may_choose_the_collector(monkeypatch: pytest.MonkeyPatch) -> None:
    """A JVM with two of them does not start."""
    for name in ("SPARK_SUBMIT_OPTS", "JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS"):
        monkeypatch.delenv(name, raising=False)
    assert collector() == "-XX:+UseParallelGC"
    monkeypatch.setenv("JAVA_TOOL_OPTIONS", "-Xss4m -XX:+UseG1GC")
    assert collector() == ""
