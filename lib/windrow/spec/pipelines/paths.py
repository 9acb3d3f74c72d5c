"""Where a pipeline writes and where it reads: the two are apart, and the lake is one place.

Files in a lake that a source would read would come back as its rows; a lake whose path is a pattern is written in one
place and looked for in others.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from fnmatch import fnmatchcase
from pathlib import Path
from urllib.parse import unquote, urlparse

from windrow.spec.errors import SpecError
from windrow.spec.sources.connector import is_glob
from windrow.spec.sources.source import Source, resolve_environment, without_variables


def check_paths(lake: str, sources: Iterable[Source], stages: Iterable[str]) -> None:
    """Refuse a lake whose path is a pattern, and one that is inside of what a source reads, or holds it.

    A Delta table may be in the lake, if it is none of the pipeline's own. Errors: SpecError.
    """
    if is_glob(without_variables(lake)) or is_glob(_known(lake) or ""):
        rule = "must have none of * ? [ ] { }, which file systems take for patterns"
        raise SpecError("lake", rule, lake, "rename the folder")
    sources = tuple(sources)
    own = ("_windrow", *stages, *(source.name for source in sources))
    for index, source in enumerate(sources):
        connector = source.connector
        if connector.location is not None:
            place = f"sources[{index}].{connector.NAME}.{connector.PATH}"
            _check_apart(lake, connector.location, place, own if connector.MAY_BE_IN_LAKE else ("",))


def _check_apart(lake: str, path: str, place: str, folders: tuple[str, ...]) -> None:
    """Refuse a lake inside of the path, and a path inside of these folders of the lake."""
    written, known = _location(lake), _known(path)
    if written is None or known is None:
        return
    for one in _alternatives(known):
        folder, pattern = _split(one)
        read = _normal(folder)
        if _is_inside(written, read) and _may_match(pattern, written[len(read) :].strip("/")):
            hint = f"{place} is {path}; give the lake a folder beside it"
            raise SpecError("lake", "must not be inside of what a source reads", lake, hint)
        if any(_is_inside(read, f"{written}/{own}".rstrip("/")) for own in folders):
            hint = f"lake is {lake}; give it a folder beside that"
            raise SpecError(place, "must not be inside of the lake", path, hint)


def _is_inside(inner: str, outer: str) -> bool:
    return f"{inner}/".startswith(f"{outer.rstrip('/')}/")


def _may_match(pattern: list[str], below: str) -> bool:
    """Whether a pattern may match a path, or what is in it, or a folder that it is in."""
    return all(_matches(part, name) for part, name in zip(pattern, below.split("/") if below else (), strict=False))


def _matches(pattern: str, name: str) -> bool:
    """Whether one part of a pattern matches a name; so where it has letters that are escaped."""
    return "\\" in pattern or fnmatchcase(name, pattern.replace("[^", "[!"))


def _alternatives(path: str) -> list[str]:
    """The patterns without braces that a pattern stands for, as Hadoop has it: those in braces may have several parts.

    At the innermost braces first. What is left of them closes nothing, and stays.
    """
    found = _BRACES.search(path)
    if found is None:
        return [path]
    ways = found[1].split(",")
    return [one for way in ways for one in _alternatives(f"{path[: found.start()]}{way}{path[found.end() :]}")]


_BRACES = re.compile(r"\{([^{}]*)\}")


def _split(path: str) -> tuple[str, list[str]]:
    """A path up to its first part that is a pattern, and the parts from there on."""
    parts = path.split("/")
    first = next((index for index, part in enumerate(parts) if is_glob(part)), len(parts))
    return "/".join(parts[:first]) or ("/" if path.startswith("/") else "."), parts[first:]


def _known(text: str) -> str | None:
    """A path with the values of the environment; None where one of them is not known yet."""
    try:
        return resolve_environment(text)
    except SpecError:
        return None


def _location(text: str) -> str | None:
    """A path or URI in one form; None where a variable of it is not known."""
    path = _known(text)
    return None if path is None else _normal(path)


def _normal(path: str) -> str:
    if path.startswith("file:"):
        path = unquote(urlparse(path).path)
    scheme, found, rest = path.partition("://")
    if found:
        return f"{scheme.lower()}://{re.sub('/+', '/', rest).rstrip('/')}"
    return str(Path(path).resolve())
