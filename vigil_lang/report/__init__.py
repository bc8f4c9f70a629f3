"""Findings and verdicts in the formats that other programs read.

One model (`model.py`), made from findings (`findings.py`) or verdicts (`verdicts.py`), and one module a format, each
with a function from a `Report` to text (`write.py` chooses). Nothing here is imported before a format is asked for.
"""
