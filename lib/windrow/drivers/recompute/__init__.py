"""Batches: backfill, restate and reconcile."""
