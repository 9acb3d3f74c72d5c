"""The rows of a stage's tables that somebody wants to see."""
