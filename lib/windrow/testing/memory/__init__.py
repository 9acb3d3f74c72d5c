"""Stages whose cells are held by the driver: small data, every tick looked at. For transcripts and laws."""
