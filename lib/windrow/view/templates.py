"""The templates of pages and drawings."""

from __future__ import annotations

from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined, Template


@cache
def template(name: str) -> Template:
    """A template of `pages/`. What is put into it is text, never markup."""
    return _environment().get_template(name)


@cache
def text_of(name: str) -> str:
    """A file of `pages/` as it is."""
    loader = _environment().loader
    assert loader is not None
    return loader.get_source(_environment(), name)[0]


@cache
def _environment() -> Environment:
    return Environment(
        loader=PackageLoader("windrow.view", "pages"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
