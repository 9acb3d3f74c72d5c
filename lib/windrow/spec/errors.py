"""What windrow raises, and the exit codes that go with it.

| exit code | of a command | of a step of a run |
|---|---|---|
| 1 | it could not go on, or the answer is no | |
| 2 | a wrong file or option, or Spark is not installed | the same: trying again gives the same |
| 3 | | a gate stopped |
| 4 | | windows have not expired |
| 75 | | something failed that may not fail again |
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

FAILED, WRONG_INPUT, GATE_STOPPED, WINDOWS_WAIT, TRY_AGAIN = 1, 2, 3, 4, 75


class WindrowError(Exception):
    """The base of all errors that windrow raises itself.

    `exit_code` is that of a command which ends with it, `step_code` that of a step: a scheduler knows by it whether
    trying again can give anything else.
    """

    exit_code: int = FAILED
    step_code: int = TRY_AGAIN

    @property
    def in_words(self) -> str:
        """The error and what to do about it, in one paragraph."""
        return str(self)


class SpecError(WindrowError, ValueError):
    """A specification that breaks a rule.

    `place` is where: a field as the class names it (`size`) when a value is made in Python, and the whole path
    (`conf/pipelines/x.yaml: stages[0].window.fixed.size`) when it was read from YAML; the loader puts the path in
    front with `within`. `rule` is a clause that follows the place ("must be positive"), `got` what was there instead,
    `hint` the fix.
    """

    exit_code = WRONG_INPUT
    step_code = WRONG_INPUT

    def __init__(self, place: str, rule: str, got: Any = None, hint: str | None = None) -> None:
        self.place = place
        self.rule = rule
        self.got = got
        self.hint = hint
        self.is_refusal = False
        """True where the fields are well formed and a rule of the whole refuses them."""
        super().__init__(self._message())

    def _message(self) -> str:
        message = f"{self.place} {self.rule}" if self.place else self.rule
        if self.got is not None:
            shown = f'"{self.got}"' if isinstance(self.got, str) else str(self.got)
            message += f"; got {shown if len(shown) <= 200 else shown[:200] + ' ...'}"
        if self.hint is not None:
            message += f". Hint: {self.hint}"
        return message

    def within(self, path: str, got: Any = None) -> SpecError:
        """The same error seen from outside: `path` in front of the place, and the text that the user wrote."""
        if not self.place or not path:
            place = self.place or path
        elif path.endswith(":"):
            place = f"{path} {self.place}"
        else:
            place = path + self.place if self.place.startswith("[") else f"{path}.{self.place}"
        outer = type(self)(place, self.rule, self.got if got is None else got, self.hint)
        outer.is_refusal = self.is_refusal
        return outer


class NotYet(SpecError):
    """Something that is right as it is written, and may be asked for later: a stream has to come further first."""

    step_code = TRY_AGAIN


class SourceUnavailable(WindrowError):
    """A source that cannot be reached now, and may be later."""

    def __init__(self, source: str, reason: str) -> None:
        super().__init__(f"source {source} cannot be reached: {reason}")
        self.source = source
        self.reason = reason

    @property
    def in_words(self) -> str:
        return f"{self}. Hint: what was committed stays; run it again when the source is there"


class NotInThisVersion(SpecError):
    """Something that the documentation describes and this version does not build: refused by name, never ignored."""

    @classmethod
    def named(cls, place: str, got: Any = None) -> NotInThisVersion:
        return cls(place, "is not in this version", got)


class NotReadable(SpecError):
    """A table that `deltalake` cannot read: only Hadoop knows its place, or it has features that others do not know."""

    @classmethod
    def because(cls, place: str, path: str, error: Exception) -> NotReadable:
        """The table of that path, and what was raised when it was to be opened."""
        return cls(place, f"cannot be read without Spark: {next(iter(str(error).splitlines()), '')}", path)


class NeedsSpark(WindrowError, ImportError):
    """Something that works on Spark only, where the packages of the extra `spark` are not installed."""

    exit_code = WRONG_INPUT
    step_code = WRONG_INPUT

    PACKAGES = frozenset({"pyspark", "py4j", "delta", "pandas", "numpy"})

    def __init__(self, what: str) -> None:
        super().__init__(f"{what} needs Spark. Hint: pip install 'windrow[spark]'")

    @classmethod
    def is_why(cls, error: ImportError) -> bool:
        """Whether an import failed because one of these packages is not there."""
        return error.name is not None and error.name.partition(".")[0] in cls.PACKAGES


class NeedsDuckDB(WindrowError, ImportError):
    """Something that DuckDB computes, where the package of the extra `simulate` is not installed."""

    exit_code = WRONG_INPUT
    step_code = WRONG_INPUT

    def __init__(self, what: str) -> None:
        super().__init__(f"{what} needs DuckDB. Hint: pip install 'windrow[simulate]'")


class WindowsWait(WindrowError):
    """A run publishes all of its windows or none, and some have not expired: it is made again later.

    Nothing went wrong. The message names the windows of each stage, and what they wait for; `until` are the watermarks
    of these stages at which all of them have expired, in microseconds.
    """

    step_code = WINDOWS_WAIT

    def __init__(self, message: str, until: Mapping[str, int] | None = None) -> None:
        super().__init__(message)
        self.until = dict(until or {})

    @property
    def in_words(self) -> str:
        return f"waits: {self}"


class NewerGeneration(WindrowError):
    """The tables of a stage show a newer generation than that of this run, which so has come to its end."""

    step_code = WRONG_INPUT

    def __init__(self, stage: str, own: int, shown: int) -> None:
        super().__init__(f"the tables of {stage} show generation {shown}, and this run is of generation {own}")
        self.stage = stage
        self.own = own
        self.shown = shown

    @property
    def in_words(self) -> str:
        return f"{self}. It has ended; everything that it committed stays. Hint: run the newer pipeline file"


def another_writer(what: str) -> str:
    """What to say where another writer was ahead."""
    return (
        f"another writer is at work on this lake: {what}. This run has stopped; everything that either has committed "
        "stays and is right. Hint: let one `windrow run` at a time write to a lake, and start this one again when the "
        "other has ended"
    )
