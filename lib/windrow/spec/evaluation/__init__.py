"""Expressions over one row in plain Python, for whoever looks at few rows and starts no Spark."""
