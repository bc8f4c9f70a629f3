"""What the model is told: the language in short, the vocabulary of the runs, the clauses."""
