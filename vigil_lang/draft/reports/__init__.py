"""What became of each clause, for people and for programs."""
