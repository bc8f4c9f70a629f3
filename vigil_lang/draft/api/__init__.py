"""Asking a language model through the Messages API, within a budget (only `client` imports the SDK)."""
