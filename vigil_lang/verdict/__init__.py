"""Verdicts: the result model, its published JSON form, and how a person sees it."""

from vigil_lang.verdict.verdict import NearMiss, Offence, SolverAnswer, StatementVerdict, Verdict

__all__ = ["NearMiss", "Offence", "SolverAnswer", "StatementVerdict", "Verdict"]
