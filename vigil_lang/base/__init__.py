"""What everything may use: files read and written, the cache, child processes, the base of trees."""
