"""Questions about meanings: can a condition hold, does one imply another, what can occur within a signature."""
