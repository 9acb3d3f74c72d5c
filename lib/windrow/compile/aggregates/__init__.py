"""Aggregates as columns. Importing what extensions need of it does not import Spark."""
