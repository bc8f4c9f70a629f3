"""The rules; `registry` lists them with their codes."""
