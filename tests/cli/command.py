"""`windrow ...` in this process, as its entry point runs it."""

from __future__ import annotations

import io
import json
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from typing import Any

import pytest

from windrow.cli import main


@dataclass(frozen=True)
class Result:
    """What a command printed, and the exit code that it ended with."""

    code: object
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


def windrow(*arguments: object) -> Result:
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err), pytest.raises(SystemExit) as ended:
        main([str(argument) for argument in arguments])
    return Result(ended.value.code or 0, out.getvalue(), err.getvalue())
