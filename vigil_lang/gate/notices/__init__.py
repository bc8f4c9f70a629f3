"""Notices of holds: who is told, in what form, and when it is tried again."""
