"""Tests of policies: expected verdicts on recorded and invented runs, read from `*_test.vgl` files."""
