"""The parts of a report, each read from the audits and the tables; `report.py` beside it puts them together."""
