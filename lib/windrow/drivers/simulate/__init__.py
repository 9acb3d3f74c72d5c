"""Other specifications of a stage over the history that it has: what they would have shown, and when."""
