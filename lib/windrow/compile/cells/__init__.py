"""The state of a key and window as columns, and what a tick does to it."""
