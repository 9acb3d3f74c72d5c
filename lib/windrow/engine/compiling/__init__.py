"""Specifications compiled against the types of rows."""
