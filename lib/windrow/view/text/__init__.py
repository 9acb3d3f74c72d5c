"""Text, tables, times and bars, as people read them."""
