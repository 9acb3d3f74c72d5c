"""The options that a JVM of windrow's own is started with."""

import pytest

from windrow.drivers.spark.jvm import code_cache, collector, launch_environment


def test_the_environment_may_choose_the_collector(monkeypatch: pytest.MonkeyPatch) -> None:
    """A JVM with two of them does not start."""
    for name in ("SPARK_SUBMIT_OPTS", "JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS"):
        monkeypatch.delenv(name, raising=False)
    assert collector() == "-XX:+UseParallelGC"
    monkeypatch.setenv("JAVA_TOOL_OPTIONS", "-Xss4m -XX:+UseG1GC")
    assert collector() == ""


def test_compiled_code_has_room_with_the_first_compiler_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """Such a JVM takes 48 MB by itself, and a job that makes all steps of a run of the flights has filled them."""
    for name in ("JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("SPARK_SUBMIT_OPTS", "-XX:TieredStopAtLevel=1")
    assert "-XX:ReservedCodeCacheSize=240m" in launch_environment(True)["SPARK_SUBMIT_OPTS"].split()
    monkeypatch.setenv("SPARK_SUBMIT_OPTS", "-XX:ReservedCodeCacheSize=300m")
    assert code_cache() == "" and "240m" not in launch_environment(True)["SPARK_SUBMIT_OPTS"]
