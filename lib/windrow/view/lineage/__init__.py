"""Lineage as OpenLineage writes it: jobs, runs, data sets and what their columns are made of."""
