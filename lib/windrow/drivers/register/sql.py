"""The names of a pipeline as SQL that somebody else runs."""

from __future__ import annotations

from windrow.compile.names.dialects import dialect
from windrow.compile.names.relations import relations
from windrow.spec.pipelines.pipeline import Pipeline
from windrow.store.delta.location import Lake


def names_sql(pipeline: Pipeline, engine: str, schema: str | None = None) -> str:
    """The statements that give a pipeline's tables and views their names in `spark`, `trino` or `duckdb`.

    `schema` is one name or a catalog and a schema, by default the name of the pipeline. Neither Spark nor the lake is
    looked at: the statements are about all tables that the pipeline will have. Errors: SpecError.
    """
    spoken = dialect(engine, schema or pipeline.pipeline, Lake.of(pipeline.lake).root)
    return "".join(f"{statement};\n\n" for statement in spoken.statements(relations(pipeline))).rstrip("\n")
