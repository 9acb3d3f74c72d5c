"""A Delta table as the log that it is: files that were appended, or versions of its change data feed."""
