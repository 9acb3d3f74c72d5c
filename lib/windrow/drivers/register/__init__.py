"""A pipeline's tables under names: in a catalog of Spark, in a DuckDB of this process, or as SQL for others."""
