"""`windrow json-schema`: what editors need to complete and check files."""

from __future__ import annotations

from typing import Annotated

import typer

from windrow.cli.options import print_json
from windrow.spec.editors import SCHEMAS
from windrow.spec.errors import SpecError

What = Annotated[str, typer.Argument(metavar="pipeline|transcript", help="Of which files.", show_default=False)]


def json_schema(what: What) -> None:
    """Print the JSON Schema of pipeline files or transcripts, by which editors complete and check them.

    Example: windrow json-schema pipeline > pipeline.schema.json
    """
    if what not in SCHEMAS:
        raise SpecError("json-schema", f"must be of {' or '.join(SCHEMAS)}", what)
    print_json(SCHEMAS[what]())
