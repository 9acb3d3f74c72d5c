"""A pipeline and its file."""
