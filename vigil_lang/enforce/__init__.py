"""Runs judged while they happen: what a pending call would break, and callables that do not run where it would."""
