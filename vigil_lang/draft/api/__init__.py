"""Asking a language model through the Messages API, within a budget (the SDK is imported in `connection` alone)."""
