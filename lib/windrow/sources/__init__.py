"""Readers: rows of a connector with the envelope around them, each with its verdict."""
