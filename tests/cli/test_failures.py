"""What a command says of a failure that nobody foresaw: one line, with the file, table or stage, and no trace."""

from pathlib import Path
from typing import Any

import pytest

from tests.lake import pipeline, write_files
from windrow.cli.errors import shown_plainly
from windrow.drivers.pipeline.during import during
from windrow.drivers.stream import stream
from windrow.sources.java_words import in_one_line


class Java:
    """An error of Java's with its cause, as py4j shows it."""

    def __init__(self, *said: str) -> None:
        self.said = said

    def toString(self) -> str:
        return self.said[0]

    def getCause(self) -> "Java | None":
        return Java(*self.said[1:]) if len(self.said) > 1 else None


def failure(*said: str) -> Exception:
    error = RuntimeError("An error occurred while calling o1.save.\n: trace\n\tat org.apache.spark")
    error.java_exception = Java(*said)  # type: ignore[attr-defined]
    return error


@pytest.mark.parametrize(
    ("said", "line"),
    [
        (("org.apache.spark.SparkException: [FAILED_READ_FILE.NO_HINT] Encountered error while reading file "
          "file:///data/a.json.gz.  SQLSTATE: KD001", "java.io.EOFException: Unexpected end\n\tat x"),
         "file:///data/a.json.gz: EOFException: Unexpected end"),
        (("java.io.IOException: Parent path is not a directory: file:/lake/rows/raw/_delta_log",),
         "IOException: Parent path is not a directory: file:/lake/rows/raw/_delta_log"),
        (("x.DeltaException: cannot read s3a://b/lake/rows/raw/_delta_log/000.json at once",
          "com.fasterxml.JsonParseException: Unexpected end-of-input"),
         "s3a://b/lake/rows/raw/_delta_log/000.json: JsonParseException: Unexpected end-of-input"),
    ],
)  # fmt: skip
def test_a_failure_of_java_in_one_line(said: tuple[str, ...], line: str) -> None:
    assert in_one_line(failure(*said)) == line
    assert "\n" not in shown_plainly(failure(*said))


def test_what_was_at_work_is_named() -> None:
    with pytest.raises(RuntimeError) as raised, during("while stage sums ticked"), during("while x"):
        raise RuntimeError("boom\n  at y")
    assert shown_plainly(raised.value).startswith("windrow: the command could not go on, while x: RuntimeError: boom. ")


def test_a_failure_of_a_landing_is_the_one_of_its_batch(spark: Any, tmp_path: Path) -> None:
    """Spark's own error of it is a text with the traces of two languages in it."""
    write_files(tmp_path / "data", range(1))
    (tmp_path / "lake").mkdir()
    (tmp_path / "lake" / "clicks").write_text("a file where tables should be")
    with pytest.raises(Exception) as raised:
        stream.run(pipeline(tmp_path), spark, once=True)
    said = shown_plainly(raised.value)
    assert said.startswith("windrow: the command could not go on, while source clicks landed: ")
    assert f"{tmp_path}/lake/clicks" in said and "\n" not in said and "\tat " not in said


def test_a_broken_commit_names_its_file(spark: Any, tmp_path: Path) -> None:
    write_files(tmp_path / "data", range(1))
    stream.run(pipeline(tmp_path), spark, once=True)
    log = tmp_path / "lake" / "clicks" / "raw" / "_delta_log"
    newest = sorted(log.glob("*.json"))[-1]
    newest.write_text(newest.read_text()[:100])
    (log / f".{newest.name}.crc").unlink(missing_ok=True)
    with pytest.raises(Exception) as raised:
        stream.run(pipeline(tmp_path), spark, once=True)
    assert f"{tmp_path}/lake/clicks/raw/_delta_log/{newest.name} is broken" in shown_plainly(raised.value)
