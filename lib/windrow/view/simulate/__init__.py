"""What simulated specifications would have shown: as a table in the terminal, and as a page."""
