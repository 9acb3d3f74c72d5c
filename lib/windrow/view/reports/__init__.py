"""The parts of a report as people and machines read them; `view/report.py` is the whole."""
