"""What verbs and the editor both ask of a project: its settings, its policies and its runs."""
