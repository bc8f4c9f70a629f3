"""Many runs decided at once, over columns: a requirement becomes a plan, and Polars, DuckDB or Spark works it out."""
