"""The Delta tables of a lake: raw, journal, cells and projections, and the steps by which they are written."""
