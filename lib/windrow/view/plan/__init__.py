"""A pipeline in words."""
