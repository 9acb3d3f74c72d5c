"""Maintenance of a pipeline's tables: of each stage's journal, and of each table's files and log."""
