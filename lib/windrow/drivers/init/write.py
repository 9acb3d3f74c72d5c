"""The files of a first pipeline, read back before they are written: they must be right as they stand."""

from __future__ import annotations

import os
from pathlib import Path

from windrow.spec.errors import SpecError
from windrow.spec.pipelines.documents import load_yaml
from windrow.spec.pipelines.pipeline import Pipeline
from windrow.spec.transcripts.cases import read_transcripts
from windrow.view.init.guess import Guess
from windrow.view.init.pipeline_file import pipeline_file
from windrow.view.init.transcript import transcript


def write(guess: Guess, data: Path, folder: Path, lake: str) -> tuple[Path, Path]:
    """Write the pipeline file and the transcript, and give their paths. Errors: SpecError for a file that is there."""
    pipeline, cases = folder / f"{guess.name}.yaml", folder / f"{guess.name}-transcript.yaml"
    for path in (pipeline, cases):
        if path.exists():
            raise SpecError(f"{path}:", "is there, and is not overwritten", None, "--output DIR, or remove it")
    text = pipeline_file(guess, os.fspath(data), lake)
    Pipeline.from_mapping(load_yaml(text))
    folder.mkdir(parents=True, exist_ok=True)
    cases.write_text(transcript(guess), encoding="utf-8")
    try:
        read_transcripts(cases)
        pipeline.write_text(text, encoding="utf-8")
    except BaseException:
        cases.unlink()
        raise
    return pipeline, cases
