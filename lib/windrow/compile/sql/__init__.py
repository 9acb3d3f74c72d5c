"""Column expressions as Spark SQL text, and chains of projections."""
