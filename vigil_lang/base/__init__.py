"""What everything may use and what knows of nothing: files, the cache, processes, trees' nodes."""
