"""A person is forgotten: what is taken out of a lake, and what becomes of what it was part of."""
