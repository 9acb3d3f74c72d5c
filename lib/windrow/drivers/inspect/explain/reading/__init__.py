"""What the lake says of a window: the rows that it got, the ticks that read them, their dead letters."""
