"""The names by which BI tools find a pipeline's tables, and the views over them, as SQL of several dialects."""
