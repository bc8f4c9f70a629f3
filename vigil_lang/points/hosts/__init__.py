"""One file a host: how its payloads are read, and the exact form of each answer that it obeys."""
