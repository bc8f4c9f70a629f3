"""The rules, one a file; `registry` lists them."""
