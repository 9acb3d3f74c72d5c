"""Where a pipeline writes and where it reads: the two are apart, and the lake is one place.

Files in a lake that a source would read would come back as its rows; a lake whose path is a pattern is written in one
place and looked for in others.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
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
    written, read = _location(lake), _location(path)
    if written is None or read is None:
        return
    if _is_inside(written, read):
        hint = f"{place} is {path}; give the lake a folder beside it"
        raise SpecError("lake", "must not be inside of what a source reads", lake, hint)
    if any(_is_inside(read, f"{written}/{folder}".rstrip("/")) for folder in folders):
        raise SpecError(place, "must not be inside of the lake", path, f"lake is {lake}; give it a folder beside that")


def _is_inside(inner: str, outer: str) -> bool:
    return f"{inner}/".startswith(f"{outer.rstrip('/')}/")


def _known(text: str) -> str | None:
    """A path with the values of the environment; None where one of them is not known yet."""
    try:
        return resolve_environment(text)
    except SpecError:
        return None


def _location(text: str) -> str | None:
    """A path or URI in one form, up to its first part that is a pattern; None where a variable of it is not known."""
    path = _known(text)
    if path is None:
        return None
    parts = path.split("/")
    first = next((index for index, part in enumerate(parts) if is_glob(part)), len(parts))
    path = "/".join(parts[:first]) or ("/" if path.startswith("/") else ".")
    if path.startswith("file:"):
        path = unquote(urlparse(path).path)
    scheme, found, rest = path.partition("://")
    if found:
        return f"{scheme.lower()}://{re.sub('/+', '/', rest).rstrip('/')}"
    return str(Path(path).resolve())
