"""A policy held against a signature Σ."""
