"""The templates of pages and drawings."""

from __future__ import annotations

from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined, Template


@cache
def template(name: str) -> Template:
    """A template of `pages/`. What is put into it is text, never markup."""
    environment = Environment(
        loader=PackageLoader("windrow.view", "pages"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template(name)
