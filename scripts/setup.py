"""Make `.venv` with everything that windrow needs: locked packages, windrow itself, the jars of Delta and Kafka, and
one of its own.

Run by `make setup`, with any Python >= 3.11 and nothing but its standard library. Each step leaves a stamp when it has
finished, and a step whose stamp is current is passed over, so that a second run does nothing and needs no network.

With the word `packages` it leaves out the last step, the only one that runs windrow itself.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import venv
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple, NoReturn
from zipfile import BadZipFile, ZipFile, ZipInfo

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
BIN = VENV / "bin"
STAMPS = VENV / "windrow-stamps"
JARS = VENV / "windrow-jars"
KAFKA_JARS = JARS / "kafka"
LOG_STORE_JAR = JARS / "windrow-local-log-store.jar"
JAVA_SOURCES = ROOT / "scripts" / "log_store"
ARCHIVE = JARS / "classes.jsa"
ARCHIVE_SCRIPT = ROOT / "scripts" / "class_archive.py"
LOCK = ROOT / "requirements.lock"
PROJECT = ROOT / "pyproject.toml"

PYTHON_AT_LEAST = (3, 11)
JAVA_AT_LEAST = 17

# Variables that would have another Python's packages or another Spark used in place of those of `.venv`.
LEADS_ASTRAY = ("PYTHONPATH", "PYTHONHOME", "SPARK_HOME")

# What the packages ask for besides, and Spark brings already.
IN_SPARK_ALREADY = (
    "org.apache.hadoop:*",
    "org.apache.parquet:*",
    "org.apache.logging.log4j:*",
    "org.slf4j:*",
    "com.fasterxml.jackson.core:*",
    "com.fasterxml.jackson.datatype:*",
    "com.github.luben:*",
    "org.xerial.snappy:*",
    "io.airlift:*",
    "org.roaringbitmap:*",
    "org.locationtech.jts:*",
    "commons-*:*",
    "javax.annotation:*",
    "com.google.code.findbugs:*",
)
LZ4 = ("at.yawk.lz4:*", "org.lz4:*")


class Package(NamedTuple):
    """A package of the Maven registry, the files that it leaves, and what it asks for and is not to bring."""

    name: str
    files: frozenset[str]
    excludes: tuple[str, ...]


DELTA = Package(
    "io.delta:delta-spark_4.2_2.13:4.4.0",
    frozenset(
        {
            "delta-spark_4.2_2.13-4.4.0.jar",
            "delta-storage-4.4.0.jar",
            "delta-kernel-api-4.4.0.jar",
            "delta-kernel-defaults-4.4.0.jar",
            "delta-kernel-unitycatalog-4.4.0.jar",
            "unitycatalog-client-0.6.0.jar",
            "unitycatalog-hadoop-0.6.0.jar",
        }
    ),
    IN_SPARK_ALREADY,
)
# Kafka's connector asks for its own version of the tokens, which the registry has not.
TOKENS = "org.apache.spark:spark-token-provider-kafka-0-10_2.13"
KAFKA = (
    Package(
        "org.apache.spark:spark-sql-kafka-0-10_2.13:4.2.0",
        frozenset({"spark-sql-kafka-0-10_2.13-4.2.0.jar", "kafka-clients-3.9.2.jar", "commons-pool2-2.13.1.jar"}),
        (*IN_SPARK_ALREADY, *LZ4, "org.scala-lang.modules:*", "org.apache.spark:spark-tags_2.13", TOKENS),
    ),
    Package(
        f"{TOKENS}:4.0.0",
        frozenset({"spark-token-provider-kafka-0-10_2.13-4.0.0.jar"}),
        (*IN_SPARK_ALREADY, *LZ4, "org.apache.kafka:*", "org.apache.spark:spark-tags_2.13"),
    ),
)
FETCH_JARS = """
import sys
from pyspark.sql import SparkSession
conf = dict(pair.split("=", 1) for pair in sys.argv[1:])
SparkSession.builder.master("local[1]").config(map=conf).getOrCreate().stop()
"""


def main() -> None:
    check_python()
    check_java()
    step("python", f"{sys.version} {VENV}", "making .venv", make_venv)
    step("packages", digest(LOCK), f"installing the packages of {LOCK.name}", install_packages)
    step("windrow", str(ROOT) + digest(PROJECT) + digest(LOCK), "installing windrow (editable)", install_windrow)
    jars("jars", JARS, (DELTA,))
    jars("kafka", KAFKA_JARS, KAFKA)
    compiled("local", LOG_STORE_JAR, "compiling what puts commits on a local disk")
    if sys.argv[1:] == ["packages"]:
        return say("packages and jars are ready: .venv")
    packages = digest(LOCK) + digest(ARCHIVE_SCRIPT) + "".join(map(str, jar_sizes(JARS).values()))
    step("archive", java_version() + packages, "archiving Spark's classes, so that it starts sooner", archive_classes)
    say("ready: .venv")


def step(name: str, wanted: str, doing: str, do: Callable[[], None]) -> None:
    """Do a step unless its stamp says that it was done for the same `wanted`."""
    wanted = hashlib.sha256(wanted.encode()).hexdigest()
    if finished(name) == wanted:
        return
    say(doing)
    do()
    finish(name, wanted)


def finished(name: str) -> object:
    stamp = STAMPS / name
    return json.loads(stamp.read_text()) if stamp.exists() else None


def finish(name: str, value: object) -> None:
    STAMPS.mkdir(exist_ok=True)
    half = STAMPS / f"{name}.half"
    half.write_text(json.dumps(value))
    half.replace(STAMPS / name)


# --- the steps ------------------------------------------------------------------------------------------------------


def check_python() -> None:
    if sys.version_info < PYTHON_AT_LEAST:
        fail(
            f"Python must be {dotted(PYTHON_AT_LEAST)} or later; this one is {sys.version.split()[0]}",
            "run `make setup PYTHON=python3.11`",
        )


def check_java() -> None:
    where = "from JAVA_HOME" if os.environ.get("JAVA_HOME") else "on the PATH"
    hint = "`apt-get install openjdk-17-jdk-headless`, or set JAVA_HOME to a JDK 17 or later"
    try:
        answer = java_version()
    except (OSError, subprocess.CalledProcessError):
        fail(f"Spark needs Java {JAVA_AT_LEAST} or later, and there is no java that runs {where}", hint)
    found = re.search(r'version "(?:1\.)?(\d+)', answer)
    if found is None or int(found[1]) < JAVA_AT_LEAST:
        fail(f"Spark needs Java {JAVA_AT_LEAST} or later; java {where} is {answer.splitlines()[0]}", hint)


def make_venv() -> None:
    venv.create(VENV, clear=True, with_pip=True)
    run(BIN / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", locked("uv"))


def install_packages() -> None:
    """Compiled to bytecode too: where nobody may write beside the packages, every start would compile its imports."""
    uv("pip", "install", "--compile-bytecode", "--require-hashes", "--exact", "-r", LOCK)


def install_windrow() -> None:
    uv("pip", "install", "--offline", "--no-deps", "--no-build-isolation", "--reinstall", "-e", ROOT)
    run(BIN / "python", "-m", "compileall", "-q", ROOT / "lib")


def jars(name: str, folder: Path, packages: tuple[Package, ...]) -> None:
    """Fill the folder with the files of these packages, unless it is as it was when that had been done."""
    files = frozenset().union(*(package.files for package in packages))
    if fetched(folder).keys() == files and fetched(folder) == finished(name):
        return
    say(f"fetching {', '.join(package.name for package in packages)} into {folder.relative_to(ROOT)}")
    with tempfile.TemporaryDirectory(dir=VENV, prefix="jars-") as came:
        for package in packages:
            fetch_jars(package, Path(came))
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        for file in files:
            Path(came, file).replace(folder / file)
    finish(name, fetched(folder))


def fetch_jars(package: Package, folder: Path) -> None:
    """Have Spark resolve a package once, in a folder of its own, and move the jars when all have come."""
    with tempfile.TemporaryDirectory(dir=VENV, prefix="ivy-") as ivy:
        conf = {
            "spark.jars.packages": package.name,
            "spark.jars.excludes": ",".join(package.excludes),
            "spark.jars.ivy": ivy,
            "spark.ui.enabled": "false",
            "spark.driver.host": "127.0.0.1",
            "spark.driver.bindAddress": "127.0.0.1",
        }
        run(BIN / "python", "-c", FETCH_JARS, *(f"{name}={value}" for name, value in conf.items()))
        # Ivy names a jar organisation_artifact-version.jar; the organisation is left off here.
        came = {jar.name.split("_", 1)[1]: jar for jar in Path(ivy, "jars").glob("*.jar") if is_whole(jar)}
        if came.keys() != package.files:
            fail(
                f"the jars of {package.name} came incomplete; missing: {sorted(package.files - came.keys())}, "
                f"not expected: {sorted(came.keys() - package.files)}",
                "run `make setup` again when the Maven registry can be reached",
            )
        for name, jar in came.items():
            jar.replace(folder / name)


def compiled(name: str, jar: Path, doing: str, *more: Path) -> None:
    """Have some of the few classes that windrow has in Java in a jar. They need Spark, Delta and what is in `more`."""
    sources = sorted((JAVA_SOURCES / name).rglob("*.java"))
    if not jar.exists():
        (STAMPS / f"{name} log store").unlink(missing_ok=True)
    step(f"{name} log store", "".join(map(digest, sources)), doing, lambda: compile_java(sources, jar, JARS, *more))


def compile_java(sources: list[Path], jar: Path, *folders: Path) -> None:
    home = os.environ.get("JAVA_HOME")
    javac = shutil.which("javac", path=str(Path(home, "bin")) if home else None)
    if javac is None:
        fail("what puts commits is compiled, and there is no javac", "`apt-get install openjdk-17-jdk-headless`")
    spark = next(VENV.glob("lib/python*/site-packages/pyspark/jars"))
    places = ":".join(f"{folder}/*" for folder in (spark, *folders))
    jar.parent.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=VENV, prefix="classes-") as folder:
        run(javac, "--release", str(JAVA_AT_LEAST), "-cp", places, "-d", folder, *sources)
        half = jar.with_suffix(".half")
        with ZipFile(half, "w") as archive:
            for file in sorted(Path(folder).rglob("*.class")):
                archive.writestr(ZipInfo(str(file.relative_to(folder))), file.read_bytes())
        half.replace(jar)


def archive_classes() -> None:
    """Have a JVM go through a small run, and keep the classes that it has loaded."""
    ARCHIVE.unlink(missing_ok=True)
    half = JARS / "classes.jsa.half"
    half.unlink(missing_ok=True)
    options = f"-XX:TieredStopAtLevel=1 -XX:ArchiveClassesAtExit={half} -Xlog:cds=off -Xlog:cds+dynamic=off"
    jars = ",".join(str(jar) for jar in sorted(JARS.glob("*.jar")))
    conf = ("spark.ui.enabled=false", "spark.driver.host=127.0.0.1", "spark.driver.bindAddress=127.0.0.1")
    settings = [word for pair in conf for word in ("--conf", pair)]
    run(
        BIN / "spark-submit", "--master", "local[2]", "--jars", jars, *settings, ARCHIVE_SCRIPT,
        SPARK_SUBMIT_OPTS=options,
    )  # fmt: skip
    half.replace(ARCHIVE)


# --- small things ---------------------------------------------------------------------------------------------------


def jar_sizes(folder: Path) -> dict[str, int]:
    return {jar.name: jar.stat().st_size for jar in sorted(folder.glob("*.jar"))}


def fetched(folder: Path) -> dict[str, int]:
    """Of the jars of a folder those that were not made here."""
    return {name: size for name, size in jar_sizes(folder).items() if name != LOG_STORE_JAR.name}


def is_whole(jar: Path) -> bool:
    try:
        with ZipFile(jar) as archive:
            return archive.testzip() is None
    except BadZipFile:
        return False


def uv(*arguments: str | Path) -> None:
    run(BIN / "uv", *arguments, "--quiet", "--python", BIN / "python")


def java_version() -> str:
    """What the java that Spark will use says of itself."""
    home = os.environ.get("JAVA_HOME")
    java = str(Path(home, "bin", "java")) if home else shutil.which("java")
    return subprocess.run([java or "java", "-version"], capture_output=True, text=True, check=True).stderr


def run(*command: str | Path, **more: str) -> None:
    """Run a command in silence, with more variables of the environment; if it fails, show what it said."""
    words = [str(word) for word in command]
    env = {name: value for name, value in os.environ.items() if name not in LEADS_ASTRAY}
    env |= {"PYSPARK_PYTHON": str(BIN / "python"), "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}", **more}
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=env, cwd=ROOT)
    if done.returncode != 0:
        print(done.stdout, file=sys.stderr)
        what = " ".join([Path(words[0]).name, *words[1:4]])
        fail(f"`{what} ...` failed with exit code {done.returncode}", "its output is above")


def locked(package: str) -> str:
    """A package with the version that the lock gives it."""
    return next(line.split()[0] for line in LOCK.read_text().splitlines() if line.startswith(f"{package}=="))


def digest(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


def dotted(version: tuple[int, ...]) -> str:
    return ".".join(map(str, version))


def say(what: str) -> None:
    print(f"setup: {what}", flush=True)


def fail(what: str, hint: str) -> NoReturn:
    raise SystemExit(f"setup: {what}. Hint: {hint}.")


if __name__ == "__main__":
    main()
