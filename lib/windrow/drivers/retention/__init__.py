"""For how long rows are kept: what windows need of them, and what can be proved and recomputed without the others."""
