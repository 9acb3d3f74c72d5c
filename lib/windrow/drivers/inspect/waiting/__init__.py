"""What a run waits for, and whether something has come for it."""
