"""The stream."""
