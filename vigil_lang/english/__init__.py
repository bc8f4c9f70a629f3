"""How English sentences are read: their words, where they end, what they demand, limit and order."""
