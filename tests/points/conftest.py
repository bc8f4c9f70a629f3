"""Fixtures of the tests of enforcement points."""
