"""What is wrong with policies, found without judging a run: rules, and what decides which of them count where."""
