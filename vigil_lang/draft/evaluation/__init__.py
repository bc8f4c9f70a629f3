"""Drafts compared with gold policies, by what they say of runs."""
