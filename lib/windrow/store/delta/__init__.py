"""Delta tables: where they are, their files, rows that are changed, and the upkeep of one table; `log` is their log."""
