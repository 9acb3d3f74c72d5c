"""Sources: where elements come from, and how their watermark is made."""
