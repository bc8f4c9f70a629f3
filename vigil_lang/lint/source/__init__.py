"""Statements held against the sentences they cite: imported only where some statement cites one."""
